package agent

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// Start sends the agent the order to start the ranks, with the program if the order copies it,
// and returns when the agent has reported that all have begun, or why not.
func (r *Site) Start() error {
	for i, flow := range r.flows {
		s, err := r.launcher.Output.Sink(r.First+base.Rank(i/2), []string{"stdout", "stderr"}[i%2])
		if err != nil {
			return r.refuse(err)
		}
		r.launcher.Output.Go(func() { r.flowLoop(int32(i), flow, s) })
	}
	o, err := r.launcher.Order(r)
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
func (r *Site) send(o Order) bool {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.refused != 0 {
		return false
	}
	conn := r.conn.Load()
	conn.Send(encode(frameOrder, 0, o))
	if o.Program == "" && r.node == nil {
		for piece := range slices.Chunk(r.launcher.Program, talk.MaxData/16) {
			conn.Send(talk.Frame{Kind: frameProgram, Data: piece})
		}
		conn.Send(talk.Frame{Kind: frameProgram})
	}
	r.ordered = true
	return true
}

// refuse reports that no rank was started, for a reason on this side.
func (r *Site) refuse(err error) error {
	r.mu.Lock()
	r.began = true
	var ended []supervise.RankEnded
	for i := range r.gone {
		if !r.gone[i] {
			ended = append(ended, supervise.RankEnded{Rank: r.First + base.Rank(i)})
			r.gone[i] = true
		}
	}
	r.mu.Unlock()
	for _, flow := range r.flows {
		flow.Close() // the agent will send nothing
	}
	for _, e := range ended {
		r.launcher.Report(e)
	}
	return err
}

// flowLoop passes on one output, at the pace of whoever takes it.
func (r *Site) flowLoop(stream int32, flow *talk.Inflow, to stdio.Sink) {
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
func (r *Site) inputLoop() {
	err := r.launcher.Input.Pass(func(p []byte) bool {
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
	if err != nil {
		r.launcher.Report(policy.Notice{Text: fmt.Sprintf("cannot read the input of rank 0: %v; the rank finds its end there", err)})
	}
	r.conn.Load().Send(talk.Frame{Kind: frameInput})
}
