package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/rendezvous"
	"github.com/gaspi-go/gaspi-go/launcher/internal/signals"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// A member is a node other than 0: an agent that runs a program of its own, and shows the
// output of its ranks itself.
type member struct {
	agent   *agent.Agent
	cfg     Config
	program *executable.File
	caught  *signals.Caught
	output  *stdio.Forwarder
	frames  chan received
	over    chan struct{} // closed when nobody takes frames any more
	asked   syscall.Signal
	failed  error         // why output of the ranks could not be written
	end     *agent.JobEnd // nil until the job is over
}

// errAskedTwice says that a user did not want to wait for the job to end.
var errAskedTwice = errors.New("interrupted twice; killed the ranks of this node")

// runMember joins node 0 and runs the ranks of this node. program is what prepare has
// returned, and problem its error, which is then told to node 0 if that is there.
func runMember(ctx context.Context, cfg Config, p *executable.File, problem error, caught *signals.Caught) (Result, error) {
	key, err := cfg.Node.key()
	if problem != nil {
		if err == nil {
			reportProblem(cfg, key, problem)
		}
		return Result{}, problem
	}
	if err != nil {
		return Result{}, err
	}
	output, err := stdio.Open(cfg.stdio())
	if err != nil {
		reportProblem(cfg, key, err)
		return Result{}, err
	}
	defer output.Close()
	conn, err := rendezvous.Join(ctx, cfg.meeting(key, caught))
	if err != nil {
		return Result{}, err
	}
	m := &member{cfg: cfg, program: p, caught: caught, output: output, frames: make(chan received), over: make(chan struct{})}
	line := talk.New(conn, cfg.silence())
	m.agent = agent.Join(line, agent.Own{Complete: m.complete, Notice: m.notice, Probe: probing(cfg.Probe)})
	defer m.agent.Close()
	if cfg.Foreground {
		if err := process.AdoptOrphans(); err != nil {
			cfg.Log(fmt.Sprintf("processes that leave their group will not be found: %v", err))
		}
	}
	agent.Enlist(line, cfg.enlistment(), nil)
	return m.run(ctx)
}

// reportProblem tells node 0, if it is there already, why this node cannot take part. This node has not joined yet: one
// that has is refused.
func reportProblem(cfg Config, key auth.Key, problem error) {
	quick := cfg.meeting(key, nil)
	quick.Limit, quick.Notice = agent.Headway, func(string) {}
	if conn, err := rendezvous.Join(context.Background(), quick); err == nil {
		line := talk.New(conn, cfg.silence())
		agent.Enlist(line, cfg.enlistment(), problem)
		line.Close()
	}
}

// enlistment is what this node says of itself when it joins.
func (c Config) enlistment() agent.Enlistment {
	return agent.Enlistment{Nodes: c.Node.Count, Ranks: c.Ranks, Transport: c.Transport}
}

// run does what node 0 says until the job is over, or node 0 is gone.
func (m *member) run(ctx context.Context) (Result, error) {
	begun := time.Now()
	go m.receiveLoop()
	err := m.loop(ctx)
	close(m.over)
	m.agent.Break()
	if err != nil {
		m.agent.Abandon()
		m.settle()
	}
	if errors.Is(err, errAskedTwice) {
		return Result{ExitCode: 128 + int(m.asked), Sentence: err.Error()}, nil
	}
	if err != nil {
		return Result{}, err
	}
	m.agent.AwaitFinish()
	m.settle()
	if err := m.end.Err(); err != nil {
		return Result{}, err
	}
	result := Result{ExitCode: m.end.Code, Sentence: m.end.Sentence, Elapsed: time.Since(begun)}
	if err := m.output.Failed(); err != nil {
		m.failed = err
	}
	if m.failed != nil && result.ExitCode == 0 { // too late for the other nodes
		result.ExitCode, result.Sentence = 1, unwritten(m.failed).What
	}
	if result.Sentence != "" {
		m.notice(result.Sentence)
		m.settle()
	}
	return result, ctx.Err()
}

// A received is a frame of node 0, or the end of the connection.
type received struct {
	frame talk.Frame
	err   error
}

func (m *member) receiveLoop() {
	for {
		f, err := m.agent.Receive()
		select {
		case m.frames <- received{f, err}:
		case <-m.over:
			return
		}
		if err != nil {
			return
		}
	}
}

// loop returns nil once node 0 has said how the job has ended.
func (m *member) loop(ctx context.Context) error {
	done := ctx.Done()
	for m.end == nil {
		select {
		case <-m.signalsDue():
			for _, held := range m.caught.TakeHeld() {
				m.agent.Signal(held)
			}
		case r := <-m.frames:
			if r.err != nil {
				return m.lost(r.err)
			}
			var err error
			if m.end, err = m.agent.Obey(r.frame); err != nil {
				return fmt.Errorf("node 0 makes no sense: %w", err)
			}
		case sig := <-m.caught.Channel():
			if err := m.signalled(sig.(syscall.Signal)); err != nil {
				return err
			}
		case err := <-m.output.Broken():
			m.failed = err
			m.agent.Ask(unwritten(err))
		case <-done:
			done = nil
			if !m.agent.Ordered() {
				return ctx.Err()
			}
			m.agent.Ask(agent.Demand{Code: 1, What: "stopped: " + context.Cause(ctx).Error()})
		}
	}
	return nil
}

// unwritten is what a node wants whose output cannot be written.
func unwritten(err error) agent.Demand {
	return agent.Demand{Code: 1, What: fmt.Sprintf("cannot write the output: %v", err)}
}

// notice tells the user something, behind the output so far.
func (m *member) notice(sentence string) { m.output.Interject(func() { m.cfg.Notice(sentence) }) }

// signalled handles a signal that this process got. A signal that ends a job ends it on all
// nodes.
func (m *member) signalled(sig syscall.Signal) error {
	switch {
	case signals.EndsEarly(sig) != "" && !m.agent.Ordered():
		return &signals.Interrupted{Signal: sig}
	case supervise.EndSignals[sig] != "" && m.asked == 0:
		m.asked = sig
		m.agent.Ask(agent.Demand{Signal: int(sig)})
	case supervise.EndSignals[sig] != "":
		return errAskedTwice
	case sig == syscall.SIGTSTP:
		m.cfg.Log("a job on several nodes is suspended at node 0")
	default:
		m.caught.Hold(sig)
	}
	return nil
}

// signalsDue is ready when signals are held for the ranks of this node and all are started.
func (m *member) signalsDue() <-chan struct{} {
	if !m.caught.Holding() {
		return nil
	}
	return m.agent.Begun()
}

// lost is the error of a node that has lost node 0.
func (m *member) lost(err error) error {
	return errors.New("node 0 is lost: " + agent.WhyLost(err, m.cfg.silence(), "gaspi-run") + "; the ranks of this node are ended")
}

// settle waits until the output of the ranks has been passed on.
func (m *member) settle() { settleOutput(m.output, m.caught, nil, nil, nil) }

// complete adds to a task what the user of this node has said.
func (m *member) complete(t *supervise.Task) {
	t.Command = m.program.Command(m.cfg.Program, "", m.cfg.Args)
	t.Command.Inherited, t.Command.Added = os.Environ(), m.cfg.Env
	t.Cores, t.Adopt = m.cfg.Bind == BindCore, m.cfg.Foreground
	t.Files = func(r Rank) (*stdio.Files, error) { return m.output.Files(r, nil) }
	for i := range t.Own {
		t.Own[i] = append(t.Own[i], m.environ(t.First+Rank(i))...)
	}
}

// environ is what is told to a rank beside what node 0 says.
func (m *member) environ(r Rank) []string {
	var env []string
	if m.cfg.Interface != "" {
		env = append(env, boot.EnvInterface+"="+m.cfg.Interface)
	}
	return append(env, m.output.Environ(r)...)
}
