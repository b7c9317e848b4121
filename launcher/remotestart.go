package launcher

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// Start sends the agent the order to start the ranks, with the program if the order copies it,
// and returns when the agent has reported that all have begun, or why not.
func (r *remote) Start() error {
	for i, flow := range r.flows {
		s, err := r.job.output.Sink(r.First+Rank(i/2), []string{"stdout", "stderr"}[i%2])
		if err != nil {
			return r.refuse(err)
		}
		r.job.output.Go(func() { r.flowLoop(int32(i), flow, s) })
	}
	o, err := r.order()
	if err != nil {
		return r.refuse(err)
	}
	if !r.send(o) {
		return r.refuse(supervise.ErrEnded)
	}
	if o.Reads {
		go r.inputLoop()
	}
	return <-r.started
}

// send sends the order, and the program if it is to be copied, unless the job has
// ended before.
func (r *remote) send(o order) bool {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.refused != 0 {
		return false
	}
	conn := r.conn.Load()
	conn.Send(encode(frameOrder, 0, o))
	if o.Program == "" && r.node == nil {
		for piece := range slices.Chunk(r.job.shipment, talk.MaxData/16) {
			conn.Send(talk.Frame{Kind: frameProgram, Data: piece})
		}
		conn.Send(talk.Frame{Kind: frameProgram})
	}
	r.ordered = true
	return true
}

// refuse reports that no rank was started, for a reason on this side.
func (r *remote) refuse(err error) error {
	r.mu.Lock()
	r.began = true
	var ended []supervise.RankEnded
	for i := range r.gone {
		if !r.gone[i] {
			ended = append(ended, supervise.RankEnded{Rank: r.First + Rank(i)})
			r.gone[i] = true
		}
	}
	r.mu.Unlock()
	for _, flow := range r.flows {
		flow.Close() // the agent will send nothing
	}
	for _, e := range ended {
		r.job.report(e)
	}
	return err
}

// order says what the agent is to do.
func (r *remote) order() (o order, err error) {
	j := r.job
	o = order{
		Name: j.program.Name(), Grace: j.cfg.KillGrace, StopLimit: j.cfg.silence(), First: r.First, Size: j.cfg.Ranks,
		Slots: j.slots(), Debug: j.cfg.Debug,
	}
	if j.cfg.Measure {
		o.Measures = j.cfg.Ranks
	}
	if r.node != nil {
		o.Key = j.server.Credentials().Key.Text()
	} else if err := r.equip(&o); err != nil {
		return order{}, err
	}
	for i := range r.Ranks {
		info := j.info(r.Place, i)
		env := info.RemoteEnviron(r.rendezvous(), fmt.Sprintf("/proc/self/fd/%d", supervise.BootFD))
		o.Ranks = append(o.Ranks, append(env, r.environ(info.Rank)...))
		o.Identities = append(o.Identities, j.server.Authority().Rank(int32(info.Rank)).Identity.Text())
	}
	return o, nil
}

// equip adds what the ranks of a host run, and with what.
func (r *remote) equip(o *order) (err error) {
	j := r.job
	if o.Dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("the directory to start ranks in: %w", err)
	}
	o.Title, o.Args, o.Bind = j.cfg.Program, j.cfg.Args, j.cfg.Bind
	o.Env, o.Added, o.AnyDir = portable(os.Environ()), j.cfg.Env, j.ships()
	o.Reads = r.First == 0 && j.cfg.Stdin != nil
	if !j.ships() {
		o.Program, err = filepath.Abs(j.program.Path())
	}
	return err
}

// rendezvous is where the ranks reach this process, the address that has worked first.
func (r *remote) rendezvous() []string {
	if r.node == nil {
		return r.job.doorway.addressesFrom(r.agent.Reached)
	}
	return r.job.doorway.addressesOf(r.node.at)
}

// environ is what a rank is told here; a node adds what is its own.
func (r *remote) environ(n Rank) []string {
	if r.node != nil {
		return r.job.commonEnviron()
	}
	return r.job.environ(n)
}

// flowLoop passes on one output, at the pace of whoever takes it.
func (r *remote) flowLoop(stream int32, flow *talk.Inflow, to stdio.Sink) {
	defer to.End()
	for {
		piece := flow.Next()
		if piece == nil {
			return
		}
		to.Feed(piece)
		r.conn.Load().Send(talk.Frame{Kind: frameTaken, Number: stream, Data: binary.LittleEndian.AppendUint32(nil, uint32(len(piece)))})
	}
}

// inputLoop sends what rank 0 is to read.
func (r *remote) inputLoop() {
	r.job.input.Pass(func(p []byte) bool {
		for len(p) > 0 {
			n := r.input.Take(len(p))
			if n == 0 {
				return false
			}
			r.conn.Load().Send(talk.Frame{Kind: frameInput, Data: append([]byte(nil), p[:n]...)})
			p = p[n:]
		}
		return true
	})
	r.conn.Load().Send(talk.Frame{Kind: frameInput})
}
