package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/bootstrap"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/listener"
)

// gather makes the sites of the job: it starts agents on all other hosts, and
// waits until they have come.
func (j *job) gather(ctx context.Context) (err error) {
	if j.nodes == nil && j.spread() && j.ships() {
		if j.shipment, err = j.program.Contents(j.cfg.Program); err != nil {
			return err
		}
	}
	var remotes []*agent.Site
	for _, p := range j.places {
		if p.Here {
			j.addSite(j.local(p), p)
			continue
		}
		r := j.remote(p)
		remotes = append(remotes, r)
		j.addSite(r, p)
	}
	if j.nodes != nil {
		return j.listen(nil)
	}
	if len(remotes) > 0 {
		if err := j.listen(remotes); err != nil {
			return err
		}
		if err := j.startAgents(remotes); err != nil {
			return err
		}
	}
	return j.await(ctx)
}

// remote returns the site of a place on another host.
func (j *job) remote(p hosts.Place) *agent.Site {
	return agent.NewSite(agent.Launcher{
		Silence: j.cfg.silence(), Measure: j.cfg.Measure, Program: j.shipment, Output: j.output, Input: j.input,
		Order: j.order, Elapsed: func() time.Duration { return time.Since(j.begun) },
		End:    func() agent.JobEnd { return jobEnd(j.policy.Verdict()) },
		Report: j.report, Log: j.cfg.Log,
	}, p, j.nodes.Conn(p.Number))
}

// ships reports whether the program is copied to other hosts.
func (j *job) ships() bool { return j.cfg.Remote.Stage || j.program.Built() }

// listen lets ranks of other hosts in, and agents that are yet to come.
func (j *job) listen(agents []*agent.Site) (err error) {
	j.listener, err = listener.Open(listener.Request{
		Job: j.id, Interface: j.cfg.Interface, Ports: j.cfg.Ports, TLS: j.cfg.TLS,
		Server: j.server, Agents: agents, Log: j.cfg.Log,
	})
	if err != nil {
		return err
	}
	j.cfg.Log("other hosts reach this one at " + strings.Join(j.listener.Addresses(), ", "))
	return nil
}

// startAgents starts agents on other hosts.
func (j *job) startAgents(remotes []*agent.Site) error {
	j.starters = map[*bootstrap.Starter][]*agent.Site{}
	j.starterEnded = make(chan *bootstrap.Starter, len(remotes))
	program, err := bootstrap.Find(j.cfg.Remote.Agent, j.cfg.Remote.Stage)
	if err != nil {
		return err
	}
	if j.cfg.Remote.Srun {
		var names []string
		for _, r := range remotes {
			names = append(names, r.Name)
		}
		return j.start(bootstrap.Srun(names, program), remotes)
	}
	for _, r := range remotes {
		if err := j.start(bootstrap.SSH(j.cfg.Remote.SSH, r.Name, program), []*agent.Site{r}); err != nil {
			return err
		}
	}
	return nil
}

// start starts the agents of some hosts, and tells them where this launcher is and how to prove that
// they are its agents.
func (j *job) start(s *bootstrap.Starter, remotes []*agent.Site) error {
	contact := agent.Contact{
		Version: agent.Version, Job: j.id,
		Addresses: j.listener.Addresses(), TLS: j.cfg.TLS, Silence: j.cfg.silence(),
		Nodes: map[string]agent.Proof{},
	}
	for _, r := range remotes {
		name := r.Name
		if !j.cfg.Remote.Srun {
			name = agent.AnyNode
		}
		contact.Nodes[name] = agent.Proof{Host: r.Number, Credentials: j.server.Authority().Agent(int32(r.Number)).Text()}
	}
	line, err := json.Marshal(contact)
	if err != nil {
		return err
	}
	err = s.Start(line, bootstrap.Parent{
		Thread: j.thread, Children: j.family, Log: j.cfg.Log,
		Ended: func(s *bootstrap.Starter) { j.starterEnded <- s },
	})
	if err == nil {
		j.starters[s] = remotes
	}
	return err
}

// await waits until all agents are there. Signals are heeded meanwhile.
func (j *job) await(ctx context.Context) error {
	limit := time.After(j.cfg.Remote.Patience)
	done := make(chan struct{})
	var reminding sync.WaitGroup
	defer reminding.Wait()
	defer close(done)
	reminding.Go(func() { boot.Remind(done, j.remind) })
	for _, s := range j.sites {
		r, ok := s.(*agent.Site)
		if !ok {
			continue
		}
		if err := j.awaitOne(ctx, r, limit); err != nil {
			return err
		}
		j.cfg.Log(fmt.Sprintf("host %d is %s: ranks %d to %d, agent %d on %s with %d cores",
			r.Number, r.Name, r.First, int(r.First)+r.Ranks-1, r.About().PID, r.About().Host, r.About().Cores))
	}
	return nil
}

func (j *job) awaitOne(ctx context.Context, r *agent.Site, limit <-chan time.Time) error {
	for {
		select {
		case err := <-r.Arrived():
			return err
		case s := <-j.starterEnded:
			if err := j.starterGone(s); err != nil {
				return err
			}
		case <-limit:
			return j.nobodyCame(r)
		case <-ctx.Done():
			return ctx.Err()
		case sig := <-j.caught.Channel():
			if err := j.caught.Early(sig); err != nil {
				return err
			}
		}
	}
}

// starterGone returns why an agent will not come when the process that was to start it
// has ended, or nil if it had come before.
func (j *job) starterGone(s *bootstrap.Starter) error {
	for _, r := range j.starters[s] {
		if !r.Connected() {
			return s.Failure(r.Name)
		}
	}
	return nil
}

func (j *job) nobodyCame(r *agent.Site) error {
	return fmt.Errorf("host %s: no agent has connected within %s to %s, waiting for %s: is there a firewall, or an address that only this host knows? choose one with --interface",
		r.Name, phrase.Limit(j.cfg.Remote.Patience), strings.Join(j.listener.Addresses(), ", "), j.absent())
}

// remind tells the user which hosts have been waited for, for so long. The last may have come a moment ago.
func (j *job) remind(since string) {
	if absent := j.absent(); absent != "" {
		j.cfg.Notice(fmt.Sprintf("waiting for %s for %s", absent, since))
	}
}

// absent names the hosts whose agents have not connected: "hosts b, d (2 of 3 are missing)", or
// "" if all have.
func (j *job) absent() string {
	var names []string
	remotes := 0
	for _, s := range j.sites {
		if r, ok := s.(*agent.Site); ok {
			remotes++
			if !r.Connected() {
				names = append(names, r.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return phrase.Missing(phrase.Plural(len(names), "host ", "hosts ")+strings.Join(names, ", "), len(names), remotes)
}

// starterPatience is how long a process that has started an agent may take to end after the agent has.
const starterPatience = 2 * time.Second

// dismissStarters waits for the processes that have started agents to end with these, and kills them if
// they take long.
func (j *job) dismissStarters() {
	limit := time.After(starterPatience)
	for s, remotes := range j.starters {
		if slices.ContainsFunc(remotes, func(r *agent.Site) bool { return !r.Connected() }) {
			s.Kill() // nothing will make it end by itself soon
		}
		select {
		case <-s.Ended():
		case <-limit:
			limit = time.After(0)
			s.Kill()
			<-s.Ended()
		}
	}
}
