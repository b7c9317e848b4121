package prove

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// checked proves what emit makes for a call, and again in the memory of the first proof.
func checked(c *schedule.Call, emit schedule.Emitter, opts Options) error {
	c.Line = max(c.Line, 1)
	var p Prover
	prove := func() error {
		return p.Check(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) }, opts)
	}
	first, again := prove(), prove()
	if fmt.Sprint(first) != fmt.Sprint(again) {
		return fmt.Errorf("proven again: %v; want %v", again, first)
	}
	return again
}

// refused fails the test unless err breaks the rule and says so in these words.
func refused(t *testing.T, err error, rule Rule, words ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error of rule %q", err, rule)
	}
	if e.Rule != rule {
		t.Errorf("broken is %q, not %q: %v", e.Rule, rule, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\ndoes not say %q", err, w)
		}
	}
}

// swap is a right allreduce of two ranks and some elements: each sends its vector
// to the other, into memory of which it has a credit.
func swap(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	peer := 1 - me
	got, credit, data := b.Scratch(n), b.Slots(1), b.Slots(1)
	b.Signal(peer, credit)
	b.Await(credit)
	b.Put(got.At(peer, 0, n), b.In(me, 0, n), data)
	b.Await(data)
	b.Combine(b.Out(me, 0, n), b.In(me, 0, n), got.At(me, 0, n))
}

func swapCall() *schedule.Call {
	return &schedule.Call{Op: schedule.AllReduce, Size: 2, Count: 4, Line: 1}
}

// The steps of swap.
const (
	swapSignal = iota
	swapAwait
	swapPut
	swapArrived
	swapCombine
)

func TestRightIsProven(t *testing.T) {
	for _, runs := range []int{0, 1, 2, 5} {
		if err := checked(swapCall(), swap, Options{Runs: runs}); err != nil {
			t.Errorf("%d runs: %v", runs, err)
		}
	}
}

func TestForm(t *testing.T) {
	in := func(rank int32, off, n int) schedule.Region {
		return schedule.Region{Rank: rank, Buf: schedule.In, Off: off, Len: n}
	}
	out := func(rank int32, off, n int) schedule.Region {
		return schedule.Region{Rank: rank, Buf: schedule.Out, Off: off, Len: n}
	}
	step := func(i int, f func(s *schedule.Step)) func([]*schedule.Schedule) {
		return func(all []*schedule.Schedule) { f(&all[1].Lanes[0][i]) }
	}
	replace := func(i int, s schedule.Step) func([]*schedule.Schedule) {
		return step(i, func(old *schedule.Step) { *old = s })
	}
	for _, c := range []struct {
		name   string
		damage func(all []*schedule.Schedule)
		opts   Options
		want   string
	}{
		{"no schedule", func(all []*schedule.Schedule) { all[1] = nil }, Options{}, "rank 1: no schedule"},
		{"of another rank", func(all []*schedule.Schedule) { all[1].Rank = 0 }, Options{}, "of rank 0 of 2, not of 2"},
		{"slots differ", func(all []*schedule.Schedule) { all[1].Slots = 3 }, Options{}, "asks for slots 3"},
		{"eager slots differ", func(all []*schedule.Schedule) { all[1].EagerSlots = 5 }, Options{}, "eager slots 5, eager 0 and rank 0 for"},
		{"eager memory differs", func(all []*schedule.Schedule) { all[1].Eager = 5 }, Options{}, "eager slots 0, eager 5 and rank 0 for"},
		{"scratch differs", func(all []*schedule.Schedule) { all[1].Scratch = 5 }, Options{}, "scratch 5"},
		{"flip differs", func(all []*schedule.Schedule) { all[1].Flip = 5 }, Options{}, "flip 5"},
		{"unknown kind", step(0, func(s *schedule.Step) { s.Kind = 99 }), Options{}, "no such kind"},
		{"signal nowhere", step(swapSignal, func(s *schedule.Step) { s.Peer = 2 }), Options{}, "there is no rank 2"},
		{"signal to a negative rank", step(swapSignal, func(s *schedule.Step) { s.Peer = -1 }), Options{}, "there is no rank -1"},
		{"signal without slot", step(swapSignal, func(s *schedule.Step) { s.Slot = schedule.NoSlot }), Options{}, "there is no slot -1"},
		{"slot beyond", step(swapPut, func(s *schedule.Step) { s.Slot = 2 }), Options{}, "there is no slot 2, only 2"},
		{"await of a slot beyond", step(swapAwait, func(s *schedule.Step) { s.Slot = 2 }), Options{}, "there is no slot 2, only 2"},
		{"await of nothing", step(swapAwait, func(s *schedule.Step) { s.Count = 0 }), Options{}, "awaits less than one"},
		{"signal with data", step(swapSignal, func(s *schedule.Step) { s.Src = []schedule.Region{in(1, 0, 4)} }), Options{}, "0 destinations and 1 sources"},
		{"put of nothing", step(swapPut, func(s *schedule.Step) { s.Src = nil }), Options{}, "1 destinations and 0 sources"},
		{"fold of nothing", step(swapCombine, func(s *schedule.Step) { s.Src = nil }), Options{}, "1 destinations and 0 sources, not 1 and 1"},
		{"put of another length", step(swapPut, func(s *schedule.Step) { s.Src[0].Len-- }), Options{}, "one step on 4 and 3 elements"},
		{"fold of another length", step(swapCombine, func(s *schedule.Step) { s.Src[1].Len-- }), Options{}, "one step on 4 and 3 elements"},
		{"store of another length", step(swapCombine, func(s *schedule.Step) { s.Dst = []schedule.Region{out(1, 0, 2), out(1, 2, 1)} }), Options{}, "one step on 2 and 1 elements"},
		{"beyond the end", step(swapPut, func(s *schedule.Step) { s.Src[0].Off++ }), Options{}, "1:in[1:5] leaves its buffer, which has 4"},
		{"before the begin", step(swapPut, func(s *schedule.Step) { s.Dst[0].Off-- }), Options{}, "0:scratch[-1:3] leaves its buffer"},
		{"empty beyond the end", step(swapPut, func(s *schedule.Step) { s.Src[0] = in(1, 5, 0); s.Dst[0].Len = 0 }), Options{}, "1:in[5:5] leaves its buffer"},
		{"no such buffer", step(swapPut, func(s *schedule.Step) { s.Src[0].Buf = schedule.Extra(0) }), Options{}, "1:extra0[0:4]: there is no such buffer"},
		{"no such rank", step(swapPut, func(s *schedule.Step) { s.Src[0].Rank = 7 }), Options{}, "there is no rank 7"},
		{"put from a peer", step(swapPut, func(s *schedule.Step) { s.Src[0].Rank = 0 }), Options{Exposes: true}, "0:in[0:4] is not at rank 1"},
		{"put to elsewhere", step(swapPut, func(s *schedule.Step) { s.Dst[0].Rank = 1 }), Options{}, "1:scratch[0:4] is not at rank 0"},
		{"put into a caller's vector", step(swapPut, func(s *schedule.Step) { s.Dst[0].Buf = schedule.Out }), Options{}, "belongs to a caller whose vectors peers cannot reach"},
		{"fold from a peer", step(swapCombine, func(s *schedule.Step) { s.Src[0].Rank = 0 }), Options{Exposes: true}, "0:in[0:4] is at a peer, and no memory is shared"},
		{"fold from another host", step(swapCombine, func(s *schedule.Step) { s.Src[0].Rank = 0 }),
			Options{Exposes: true, Shares: true, Hosts: []int{4, 5}}, "0:in[0:4] is on host 4, and rank 1 on host 5"},
		{"fold from a vector out of reach", step(swapCombine, func(s *schedule.Step) { s.Src[0].Rank = 0 }), Options{Shares: true}, "peers cannot reach"},
		{"encode at a peer", replace(swapCombine, schedule.Step{Kind: schedule.Encode, Dst: []schedule.Region{out(0, 0, 3)}, Src: []schedule.Region{in(1, 0, 2)}}),
			Options{Shares: true, Exposes: true}, "0:out[0:3] is not at rank 1"},
		{"encode without room", replace(swapCombine, schedule.Step{Kind: schedule.Encode, Dst: []schedule.Region{out(1, 0, 2)}, Src: []schedule.Region{in(1, 0, 2)}}),
			Options{}, "the coded form of 2 elements needs 3"},
		{"decode too little", replace(swapCombine, schedule.Step{Kind: schedule.Decode, Dst: []schedule.Region{out(1, 0, 2)}, Src: []schedule.Region{in(1, 0, 2)}}),
			Options{}, "the coded form of 2 elements has 3"},
		{"encode onto itself", replace(swapCombine, schedule.Step{Kind: schedule.Encode, Dst: []schedule.Region{in(1, 1, 3)}, Src: []schedule.Region{in(1, 0, 2)}}),
			Options{}, "1:in[1:4] and 1:in[0:2] overlap"},
		{"fold with a shift", step(swapCombine, func(s *schedule.Step) { s.Dst[0], s.Src[0] = out(1, 0, 3), out(1, 1, 3); s.Src[1].Len = 3 }),
			Options{}, "1:out[0:3] and 1:out[1:4] overlap"},
		{"destinations overlap", step(swapCombine, func(s *schedule.Step) { s.Dst = []schedule.Region{out(1, 0, 4), out(1, 0, 4)} }),
			Options{}, "destinations 1:out[0:4] and 1:out[0:4] overlap"},
		{"put onto itself", replace(swapPut, schedule.Step{Kind: schedule.Put, Peer: 1, Slot: 1, Dst: []schedule.Region{in(1, 0, 4)}, Src: []schedule.Region{in(1, 0, 4)}}),
			Options{}, "1:in[0:4] and 1:in[0:4] overlap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := swapCall()
			all := []*schedule.Schedule{schedule.Build(call, 0, swap), schedule.Build(call, 1, swap)}
			c.damage(all)
			refused(t, Check(call, func(r int) *schedule.Schedule { return all[r] }, c.opts), Form, "rank 1", c.want)
		})
	}
}

func TestOptionsThatDoNotFit(t *testing.T) {
	call := swapCall()
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no call", checked(&schedule.Call{Op: schedule.AllReduce}, swap, Options{}), "0 ranks"},
		{"locals out of place", checked(call, swap, Options{Locals: 2}), "2 local vectors"},
		{"hosts of others", checked(call, swap, Options{Hosts: []int{1}}), "hosts of 1 ranks, not 2"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", c.name, c.err, c.want)
		}
	}
}
