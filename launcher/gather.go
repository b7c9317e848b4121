package launcher

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/phrase"
)

// gather makes the sites of the job: it starts agents on all other hosts, and
// waits until they have come.
func (j *job) gather(ctx context.Context) error {
	var remotes []*remote
	for _, p := range j.places {
		if p.here {
			j.addSite(j.local(p), p)
			continue
		}
		r := newRemote(j, p)
		remotes = append(remotes, r)
		j.addSite(r, p)
	}
	if j.muster != nil {
		return j.openDoor(nil)
	}
	if len(remotes) > 0 {
		if err := j.prepareRemotes(remotes); err != nil {
			return err
		}
	}
	return j.await(ctx)
}

// prepareRemotes opens the doorway and sends for the agents.
func (j *job) prepareRemotes(remotes []*remote) (err error) {
	if j.ships() {
		if j.shipment, err = j.program.Contents(j.cfg.Program); err != nil {
			return err
		}
	}
	if err := j.openDoor(remotes); err != nil {
		return err
	}
	return j.startCarriers(remotes)
}

// openDoor lets ranks of other hosts in, and agents that are yet to come.
func (j *job) openDoor(agents []*remote) (err error) {
	if j.doorway, err = openDoorway(j, agents); err != nil {
		return err
	}
	j.cfg.Log("other hosts reach this one at " + strings.Join(j.doorway.addresses, ", "))
	return nil
}

// ships reports whether the program is copied to other hosts.
func (j *job) ships() bool { return j.cfg.Remote.Stage || j.program.Built() }

// await waits until all agents are there. Signals are heeded meanwhile.
func (j *job) await(ctx context.Context) error {
	limit := time.After(j.cfg.Remote.Patience)
	done := make(chan struct{})
	var reminding sync.WaitGroup
	defer reminding.Wait()
	defer close(done)
	reminding.Go(func() { boot.Remind(done, j.remind) })
	for _, s := range j.sites {
		r, ok := s.(*remote)
		if !ok {
			continue
		}
		if err := j.awaitOne(ctx, r, limit); err != nil {
			return err
		}
		j.cfg.Log(fmt.Sprintf("host %d is %s: ranks %d to %d, agent %d on %s with %d cores",
			r.number, r.name, r.first, int(r.first)+r.ranks-1, r.agent.PID, r.agent.Host, r.agent.Cores))
	}
	return nil
}

func (j *job) awaitOne(ctx context.Context, r *remote, limit <-chan time.Time) error {
	for {
		select {
		case err := <-r.ready:
			return err
		case c := <-j.carrierEnded:
			if err := j.carrierGone(c); err != nil {
				return err
			}
		case <-limit:
			return j.nobodyCame(r)
		case <-ctx.Done():
			return ctx.Err()
		case sig := <-j.signals.channel():
			if err := j.signals.early(sig); err != nil {
				return err
			}
		}
	}
}

// carrierGone returns what keeps an agent from coming when what was to bring it
// has ended, or nil if it had come before.
func (j *job) carrierGone(c *carrier) error {
	for _, r := range c.brings {
		if !r.connected() {
			return c.failure(r)
		}
	}
	return nil
}

func (j *job) nobodyCame(r *remote) error {
	return fmt.Errorf("host %s: no agent has connected within %s to %s, waiting for %s: is there a firewall, or an address that only this host knows? choose one with --interface",
		r.name, phrase.Limit(j.cfg.Remote.Patience), strings.Join(j.doorway.addresses, ", "), j.absent())
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
		if r, ok := s.(*remote); ok {
			remotes++
			if !r.connected() {
				names = append(names, r.name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s (%d of %d %s missing)",
		phrase.Plural(len(names), "host", "hosts"), strings.Join(names, ", "), len(names), remotes, phrase.Plural(len(names), "is", "are"))
}
