package launcher

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// order says what the agent of a site is to do.
func (j *job) order(s *agent.Site) (agent.Order, error) {
	o := agent.Order{
		Name: j.program.Name(), Grace: j.cfg.KillGrace, StopLimit: j.cfg.silence(), First: s.First, Size: j.cfg.Ranks,
		Slots: j.slots(), Debug: j.cfg.Debug,
	}
	if j.cfg.Measure {
		o.Measures = j.cfg.Ranks
	}
	var rendezvous []string // where the ranks reach this process, the address that has worked first
	var environ func(Rank) []string
	if j.nodes != nil {
		o.Key = j.server.Credentials().Key.Text()
		rendezvous = j.listener.AddressesOf(j.nodes.At(s.Number))
		environ = func(Rank) []string { return j.commonEnviron() } // a node adds what is its own
	} else {
		if err := j.equip(&o); err != nil {
			return agent.Order{}, err
		}
		rendezvous, environ = j.listener.AddressesFrom(s.About().Reached), j.environ
	}
	for i := range s.Ranks {
		info := j.info(s.Place, i)
		env := info.RemoteEnviron(rendezvous, fmt.Sprintf("/proc/self/fd/%d", supervise.BootFD))
		o.Ranks = append(o.Ranks, append(env, environ(info.Rank)...))
		o.Identities = append(o.Identities, j.server.Authority().Rank(int32(info.Rank)).Identity.Text())
	}
	return o, nil
}

// equip adds what the ranks of a host run, and with what.
func (j *job) equip(o *agent.Order) (err error) {
	if o.Dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("the directory to start ranks in: %w", err)
	}
	o.Title, o.Args, o.Bind = j.cfg.Program, j.cfg.Args, int(j.cfg.Bind)
	o.Env, o.Added, o.AnyDir = agent.Portable(os.Environ()), j.cfg.Env, j.ships()
	o.Reads = o.First == 0 && j.cfg.Stdin != nil
	if !j.ships() {
		o.Program, err = filepath.Abs(j.program.Path())
	}
	return err
}
