package price

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Steps of hand-written schedules: regions matter by their length alone.

func piece(rank, n int) schedule.Region {
	return schedule.Region{Rank: int32(rank), Buf: schedule.Scratch, Len: n}
}

func put(to, n, slot int) schedule.Step {
	return schedule.Step{
		Kind: schedule.Put, Peer: int32(to), Slot: int32(slot),
		Dst: []schedule.Region{piece(to, n)}, Src: []schedule.Region{piece(to, n)},
	}
}

func signal(to, slot int) schedule.Step {
	return schedule.Step{Kind: schedule.Signal, Peer: int32(to), Slot: int32(slot)}
}

func await(slot, count int) schedule.Step {
	return schedule.Step{Kind: schedule.Await, Slot: int32(slot), Count: int32(count)}
}

func combine(me, n, sources, stores int) schedule.Step {
	s := schedule.Step{Kind: schedule.Combine}
	for range sources {
		s.Src = append(s.Src, piece(me, n))
	}
	for range stores {
		s.Dst = append(s.Dst, piece(me, n))
	}
	return s
}

func fold(me, n int) schedule.Step  { return combine(me, n, 2, 1) }
func clone(me, n int) schedule.Step { return combine(me, n, 1, 1) }
func flush() schedule.Step          { return schedule.Step{Kind: schedule.Flush} }

type lanes = []schedule.Lane

// written are the schedules of ranks that have these lanes.
func written(ranks ...lanes) (*schedule.Call, func(int) *schedule.Schedule) {
	c := &schedule.Call{Op: schedule.Barrier, Size: len(ranks), Line: 1}
	return c, func(r int) *schedule.Schedule {
		return &schedule.Schedule{Rank: r, Size: len(ranks), Lanes: ranks[r], Slots: 16}
	}
}

// one is a rank of one lane.
func one(steps ...schedule.Step) lanes { return lanes{steps} }

// none is a rank that does nothing.
func none() lanes { return nil }

// TestClosedForm compares the time of schedules whose times one can say.
func TestClosedForm(t *testing.T) {
	// Latency 1, overheads 1/4 and 1/8, a byte in 1/16: all sums are exact.
	net := Machine{
		Network: Link{Latency: 1, Put: 0.25, Signal: 0.125}, Bandwidth: 16,
		ReduceRate: 8, CopyRate: 32, Await: 0.5,
	}
	wire := Machine{Network: Link{Latency: 1}, Bandwidth: 16}
	wireAndFold := Machine{Network: Link{Latency: 1}, Bandwidth: 16, ReduceRate: 16}
	for _, test := range []struct {
		name    string
		machine Machine
		load    Load
		ranks   []lanes
		finish  []float64
		steps   int
	}{{
		name: "nothing", machine: net, ranks: []lanes{none(), none()}, finish: []float64{0, 0},
	}, {
		name: "call and step", machine: Machine{Call: 3, Step: 1}, ranks: []lanes{one(clone(0, 5), fold(0, 5)), none()},
		finish: []float64{5, 3},
	}, {
		// Each hop: signal 1/8, latency 1, await 1/2.
		name: "chain of signals", machine: net,
		ranks: []lanes{
			one(signal(1, 0), await(1, 1)),
			one(await(0, 1), signal(2, 0)),
			one(await(0, 1), signal(0, 1)),
		},
		finish: []float64{3*1.125 + 3*0.5, 1.125 + 0.5 + 0.125, 2*(1.125+0.5) + 0.125}, steps: 3,
	}, {
		// Put 1/4, latency 1, 32 bytes 2, await 1/2. The source is free after 1/4 + 2.
		name: "one put", machine: net, ranks: []lanes{one(put(1, 32, 0)), one(await(0, 1))},
		finish: []float64{2.25, 3.75}, steps: 1,
	}, {
		name: "elements of 4 bytes", machine: net, load: Load{Element: 4},
		ranks:  []lanes{one(put(1, 8, 0)), one(await(0, 1), fold(1, 8), clone(1, 8))},
		finish: []float64{2.25, 3.75 + 4 + 1}, steps: 1,
	}, {
		name: "flush waits for the port", machine: net,
		ranks:  []lanes{one(put(1, 32, 0), flush(), clone(0, 32)), one(await(0, 1))},
		finish: []float64{3.25, 3.75}, steps: 1,
	}, {
		// 32 bytes take the port 2 s and each processor 4.
		name: "a slow processor", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, SocketRate: 8},
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1))},
		finish: []float64{4, 5}, steps: 1,
	}, {
		name: "a quick processor", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, SocketRate: 32},
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1))},
		finish: []float64{2, 3}, steps: 1,
	}, {
		// It has the second's last byte after the first's and its own work.
		name: "two for one processor", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, SocketRate: 8, Ports: 2},
		ranks:  []lanes{one(put(2, 32, 0)), one(put(2, 32, 1)), one(await(0, 1), await(1, 1))},
		finish: []float64{4, 4, 5 + 4}, steps: 1,
	}, {
		// A message that arrives during the first copy delays the second.
		name: "a processor with something else to do", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, SocketRate: 32, CopyRate: 1},
		ranks:  []lanes{one(put(1, 32, 0)), one(clone(1, 10), await(0, 1), clone(1, 1))},
		finish: []float64{2, 10 + 1 + 1}, steps: 1,
	}, {
		// Of the 8 s that 32 bytes take both processors, the sender's takes 6.
		name: "a sender that does most of the work", ranks: []lanes{one(put(1, 32, 0)), one(clone(1, 10), await(0, 1), clone(1, 1))},
		machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, SocketRate: 8, SendShare: 0.75, CopyRate: 1},
		finish:  []float64{6, 10 + 2 + 1}, steps: 1,
	}, {
		// A message that has come during the copy is taken in while the rank waits for the rest.
		name: "a processor that waits again", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, SocketRate: 32, CopyRate: 1},
		ranks:  []lanes{one(put(1, 32, 0)), one(clone(1, 2), await(0, 1), clone(1, 1))},
		finish: []float64{2, 1 + 2 + 1}, steps: 1,
	}, {
		// The second leaves when the first has left; both are taken in as they come.
		name: "two puts through one port", machine: wire,
		ranks:  []lanes{one(put(1, 16, 0), put(2, 16, 0)), one(await(0, 1)), one(await(0, 1))},
		finish: []float64{2, 2, 3}, steps: 1,
	}, {
		name: "two puts through two ports", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, Ports: 2},
		ranks:  []lanes{one(put(1, 16, 0), put(2, 16, 0)), one(await(0, 1)), one(await(0, 1))},
		finish: []float64{1, 2, 2}, steps: 1,
	}, {
		name: "incast", machine: wire,
		ranks: []lanes{
			one(await(1, 1), await(2, 1), await(3, 1)),
			one(put(0, 16, 1)), one(put(0, 16, 2)), one(put(0, 16, 3)),
		},
		finish: []float64{1 + 3, 1, 1, 1}, steps: 1,
	}, {
		name: "both directions at once", machine: wire,
		ranks:  []lanes{one(put(1, 16, 0), await(0, 1)), one(put(0, 16, 0), await(0, 1))},
		finish: []float64{2, 2}, steps: 1,
	}, {
		// A signal to the rank of an earlier put comes after it, one to another does not.
		name: "signals after puts", machine: wire,
		ranks: []lanes{
			one(put(1, 32, schedule.NoSlot), signal(1, 0), signal(2, 0)),
			one(await(0, 1)), one(await(0, 1)),
		},
		finish: []float64{2, 3, 1}, steps: 1,
	}, {
		// The first put, through one port, is there after the second, through the other.
		name: "a signal after both puts", machine: Machine{Network: Link{Latency: 1}, Bandwidth: 16, Ports: 2},
		ranks: []lanes{
			one(put(1, 32, schedule.NoSlot), put(1, 16, schedule.NoSlot), signal(1, 0)),
			one(await(0, 1)),
		},
		finish: []float64{2, 3}, steps: 1,
	}, {
		// The second run's put leaves at 8 1/2, between the arrival of the first's at
		// the port, at 8 to 10, and that of the signal behind it, at 9.
		name: "a signal after the put of its run", load: Load{Runs: 2},
		machine: Machine{Network: Link{Latency: 8}, Bandwidth: 16, CopyRate: 2},
		ranks: []lanes{
			one(put(1, 32, schedule.NoSlot), clone(0, 2), signal(1, 0), clone(0, 15)),
			one(await(0, 1), clone(1, 40)),
		},
		finish: []float64{17, 10 + 40}, steps: 1,
	}, {
		name: "each run begins with the first lane", machine: Machine{CopyRate: 1}, load: Load{Runs: 2},
		ranks:  []lanes{{{clone(0, 1), signal(1, 0)}, {clone(0, 4)}}, one(await(0, 1))},
		finish: []float64{10, 6}, steps: 1,
	}, {
		name: "signals of another lane overtake", machine: wire,
		ranks:  []lanes{{{put(1, 32, 0)}, {signal(1, 1)}, {await(2, 1)}}, {{await(0, 1)}, nil, {await(1, 1), put(0, 16, 2)}}},
		finish: []float64{3, 3}, steps: 2,
	}, {
		// Two halves of 16 bytes: the second is taken in while the first is folded.
		name: "a lane folds while another receives", machine: wireAndFold,
		ranks: []lanes{
			{{put(1, 16, 0)}, {put(1, 16, 1)}},
			{{await(0, 1), fold(1, 16)}, {await(1, 1), fold(1, 16)}},
		},
		finish: []float64{2, 4}, steps: 1,
	}, {
		name: "not cut into lanes", machine: wireAndFold,
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1), fold(1, 32))},
		finish: []float64{2, 5}, steps: 1,
	}, {
		name: "lanes share the CPU", machine: Machine{ReduceRate: 1, CopyRate: 1},
		ranks:  []lanes{{{fold(0, 2), fold(0, 2)}, {clone(0, 3)}}},
		finish: []float64{7},
	}, {
		name: "many sources and destinations", machine: Machine{ReduceRate: 4, CopyRate: 2},
		ranks:  []lanes{one(combine(0, 8, 4, 3), combine(0, 8, 1, 3))},
		finish: []float64{3*8/4.0 + 2*8/2.0 + 3*8/2.0},
	}, {
		name: "straggler", machine: net, load: Load{Slowdown: []float64{1, 4}},
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1), fold(1, 8))},
		finish: []float64{2.25, 3.25 + 4*0.5 + 4*1}, steps: 1,
	}, {
		name: "late receiver", machine: net, load: Load{Arrival: []float64{1, 10}},
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1))},
		finish: []float64{3.25, 10.5}, steps: 1,
	}, {
		name: "late sender", machine: net, load: Load{Arrival: []float64{10, 1}},
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1))},
		finish: []float64{12.25, 13.75}, steps: 1,
	}, {
		// Ping-pong: a run takes 2(1/8 + 1 + 1/2).
		name: "three runs", machine: net, load: Load{Runs: 3},
		ranks:  []lanes{one(signal(1, 0), await(1, 1)), one(await(0, 1), signal(0, 1))},
		finish: []float64{3 * 3.25, 3*3.25 - 1.5}, steps: 6,
	}, {
		// The sender is ahead by as much as the network holds.
		name: "runs in a row", machine: wire, load: Load{Runs: 4},
		ranks:  []lanes{one(put(1, 16, 0)), one(await(0, 1))},
		finish: []float64{4, 5}, steps: 1,
	}, {
		name: "several posts of a slot", machine: net,
		ranks:  []lanes{one(signal(1, 0), signal(1, 0), signal(1, 0)), one(await(0, 2), clone(1, 32), await(0, 3))},
		finish: []float64{0.375, 1.25 + 0.5 + 1 + 0.5}, steps: 1,
	}} {
		t.Run(test.name, func(t *testing.T) {
			c, build := written(test.ranks...)
			res, err := Run(&test.machine, c, build, test.load)
			if err != nil {
				t.Fatal(err)
			}
			checkFinish(t, res, test.finish)
			if res.Steps != test.steps {
				t.Errorf("longest chain has %d messages, want %d", res.Steps, test.steps)
			}
		})
	}
}

func checkFinish(t *testing.T, res Result, want []float64) {
	t.Helper()
	var got []float64
	last := 0.0
	for _, r := range res.Ranks {
		got, last = append(got, r.Finish), max(last, r.Finish)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("finish of each rank (-want +got):\n%s", d)
	}
	if res.Makespan != last {
		t.Errorf("makespan %v, but the last rank ends at %v", res.Makespan, last)
	}
}

// TestRounds checks which messages count as steps and which as rounds.
func TestRounds(t *testing.T) {
	for _, test := range []struct {
		name          string
		ranks         []lanes
		steps, rounds int
	}{
		{"a credit and a put", []lanes{one(await(0, 1), put(1, 4, 0)), one(signal(0, 0), await(0, 1))}, 2, 1},
		{"a put and a credit", []lanes{one(put(1, 4, 0), await(0, 1)), one(await(0, 1), signal(0, 0))}, 2, 1},
		{"a signal tells of a put", []lanes{one(put(1, 4, schedule.NoSlot), signal(1, 0)), one(await(0, 1))}, 1, 1},
		{"a signal after a put", []lanes{one(put(1, 4, 1), signal(1, 0)), one(await(0, 1), await(1, 1))}, 1, 1},
		{"signals only", []lanes{one(signal(1, 0), await(0, 1)), one(await(0, 1), signal(0, 0))}, 2, 0},
	} {
		c, build := written(test.ranks...)
		res, err := Run(&Machine{}, c, build, Load{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Steps != test.steps || res.Rounds != test.rounds {
			t.Errorf("%s: %d steps and %d rounds, want %d and %d", test.name, res.Steps, res.Rounds, test.steps, test.rounds)
		}
	}
}
