package sim

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
)

// A TimedRun is a timing to make: one object, or one from each rank.
type TimedRun struct {
	// Ranks take part, at least 2.
	Ranks int
	// Size of an object, and Chunk of a put, in bytes.
	Size, Chunk int64
	// Bandwidth of each rank's network card, each way, in bytes per second, and Latency
	// of the way between two ranks.
	Bandwidth float64
	Latency   time.Duration
	// Interval is between the arrivals of the ranks, 0 for all at once.
	Interval time.Duration
	// Shape forces a shape of reductions.
	Shape shape.Shape
}

// A Time is when a run ended.
type Time struct {
	// Total is from the first arrival, Last from the last one.
	Total, Last time.Duration
}

// timing is the links and the programs of a run.
type timing struct {
	run     TimedRun
	egress  []int64 // when each card is free again
	ingress []int64
	act     func(w *world, r core.Rank)
	ended   int64
	open    int
	failed  core.Code
}

func (t *timing) message(w *world, from, to core.Rank, m *core.Message) int64 {
	if from == to {
		return w.now
	}
	if len(m.Payload) > 0 {
		landed, _ := t.carry(w, from, to, int64(len(m.Payload)))
		return landed
	}
	return w.now + int64(t.run.Latency)
}

func (t *timing) put(w *world, from core.Rank, cmd *core.Command) (int64, int64) {
	return t.carry(w, from, cmd.Peer, cmd.Len)
}

func (t *timing) look(w *world) int64 { return w.now }

func (t *timing) read(w *world) int64 { return w.now }

// carry takes n bytes through both cards: they leave one behind the other, travel, and
// arrive one behind the other.
func (t *timing) carry(w *world, from, to core.Rank, n int64) (landed, left int64) {
	if from == to {
		return w.now, w.now
	}
	d := int64(float64(n) / t.run.Bandwidth * 1e9)
	left = max(w.now, t.egress[from]) + d
	landed = max(left+int64(t.run.Latency), t.ingress[to]+d)
	t.egress[from], t.ingress[to] = left, landed
	return landed, left
}

func (t *timing) fill(w *world, r core.Rank, cmd core.Command) {
	w.at(w.now, fill, r).cmd = cmd
}

func (t *timing) turned(*world, core.Rank, []string) {}

func (t *timing) event(w *world, e *event) {
	switch e.kind {
	case fill:
		w.cores[e.rank].Filled(e.cmd.Call, e.cmd.Len)
	case act:
		t.act(w, e.rank)
	}
}

func (t *timing) result(w *world, _ core.Rank, res core.CallResult) {
	if res.Code != core.OK {
		t.failed = res.Code
	}
	t.open--
	t.ended = w.now
}

// prepare makes the job and lets the ranks in who act first, before the clock counts.
func (t *timing) prepare(r TimedRun, first core.Rank, puts func(w *world, r core.Rank)) *world {
	t.run = r
	t.egress, t.ingress = make([]int64, r.Ranks), make([]int64, r.Ranks)
	w := newWorld(core.Config{
		Size: r.Ranks, Capacity: r.Size*4 + 1024, Align: 1, Chunk: r.Chunk, Inline: -1, Shape: r.Shape,
		Links: shape.Links{Bandwidth: r.Bandwidth, Latency: r.Latency.Seconds()},
	}, nil, t, t)
	t.act = puts
	for k := first; int(k) < r.Ranks; k++ {
		w.at(0, act, k)
	}
	return w
}

func (t *timing) finish(w *world, begin int64, last int64) (Time, error) {
	for w.step() {
	}
	if w.err != nil {
		return Time{}, w.err
	}
	if t.open != 0 || t.failed != core.OK {
		return Time{}, fmt.Errorf("%d calls did not end, code %s", t.open, t.failed)
	}
	return Time{Total: time.Duration(t.ended - begin), Last: time.Duration(t.ended - last)}, nil
}

// Broadcast times the Gets of all ranks but 0, whose Put has ended.
func Broadcast(r TimedRun) (Time, error) {
	t := &timing{}
	w := t.prepare(r, core.Rank(r.Ranks), nil)
	t.open = 1
	w.cores[0].Put(1, "x", r.Size, 0)
	w.drain(0)
	for w.step() {
	}
	begin := w.now
	last := begin
	t.act = func(w *world, k core.Rank) { w.cores[k].Get(core.CallID(k)+1, "x") }
	for k := 1; k < r.Ranks; k++ {
		last = begin + int64(r.Interval)*int64(k-1)
		w.at(last, act, core.Rank(k))
		t.open++
	}
	return t.finish(w, begin, last)
}

// Reduction times a Reduce by rank 0 of one object of each rank. Without an interval
// the Puts have ended; with one, ranks put at that interval, rank 0 first, after the call.
func Reduction(r TimedRun) (Time, error) {
	t := &timing{}
	put := func(w *world, k core.Rank) {
		w.cores[k].Put(core.CallID(k)+1, fmt.Sprint("x", k), r.Size, 0)
	}
	w := t.prepare(r, core.Rank(r.Ranks), put)
	t.open = r.Ranks + 1
	var begin, last int64
	if r.Interval == 0 {
		for k := range r.Ranks {
			put(w, core.Rank(k))
			w.drain(core.Rank(k))
		}
		for w.step() {
		}
		begin, last = w.now, w.now
	} else {
		for k := range r.Ranks {
			last = int64(r.Interval) * int64(k)
			w.at(last, act, core.Rank(k))
		}
	}
	ids := make([]string, r.Ranks)
	for k := range ids {
		ids[k] = fmt.Sprint("x", k)
	}
	w.cores[0].Reduce(1<<30, "sum", ids, len(ids), 1)
	w.drain(0)
	return t.finish(w, begin, last)
}
