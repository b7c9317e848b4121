package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
)

// Decline tells the other nodes of a job that this one does not take part, and why, so that
// none of them waits for it. At node 0 it blocks until each of the others has come and was
// told, for at most Node.JoinTimeout; elsewhere it tells node 0, if that is there. It does
// nothing where cfg has no other nodes, or not what it takes to meet them. [Run] calls it for
// a program that cannot be started; who refuses to run at all, as for flags that make no
// sense, calls it himself.
func Decline(ctx context.Context, cfg Config, why error) {
	cfg, _ = cfg.withDefaults() // of which the rest is why, or does not matter any more
	decline(ctx, cfg, why, nil)
}

// decline is Decline with signals, which end it.
func decline(ctx context.Context, cfg Config, why error, signals *signals) {
	if _, stopped := errors.AsType[*interruptedError](why); stopped || ctx.Err() != nil || !cfg.Node.several() || cfg.Node.checkMeeting() != nil {
		return
	}
	if cfg.Node.Number == 0 {
		declineAtFirst(ctx, cfg, why, signals)
		return
	}
	if key, err := cfg.Node.key(); err == nil {
		reportProblem(cfg, key, why)
	}
}

// declineAtFirst is decline at node 0. Its user reads why at once, and may end the wait.
func declineAtFirst(ctx context.Context, cfg Config, why error, signals *signals) {
	m, err := openMuster(ctx, cfg)
	if err != nil {
		cfg.Log("the other nodes cannot be told: " + err.Error())
		return
	}
	defer m.close()
	defer close(m.over)
	var leaving sync.WaitGroup
	defer leaving.Wait()
	wait := newPatience(cfg.Node.JoinTimeout)
	defer wait.stop()
	m.cfg.Notice(fmt.Sprintf("%v; waiting for %s, to tell that", why, m.whoIsMissing()))
	verdict := agent.RefusalOf(atFirst(why))
	err = m.await(ctx, signals, wait, func(e recruitEvent) error {
		switch r := e.node; {
		case e.gone == nil:
			m.nodes[r.number] = r
			r.Dismiss(verdict)
			leaving.Go(r.Close)
		case m.nodes[r.number] == nil: // it has left before it was told
			m.forget(r)
		}
		return nil
	})
	if err != nil {
		m.cfg.Log("not all nodes were told: " + err.Error())
	}
}

// atFirst says that an error is of node 0.
func atFirst(err error) error {
	name, _ := os.Hostname()
	return fmt.Errorf("%s: %w", nodeName(0, name), err)
}
