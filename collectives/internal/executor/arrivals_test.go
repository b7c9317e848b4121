package executor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// ofLane returns what a schedule says that a lane waits for in a run when it has done so many awaits: the notification,
// whose number is that of the slot here, and its value. It returns false at the end of the lane.
func ofLane(s *schedule.Schedule, lane, done int, run uint32) (note, value uint32, waits bool) {
	all := map[int32]uint32{}
	for _, l := range s.Lanes {
		for i := range l {
			if l[i].Kind == schedule.Await {
				all[l[i].Slot]++
			}
		}
	}
	for _, step := range s.Lanes[lane] {
		if step.Kind != schedule.Await {
			continue
		}
		if done--; done < 0 {
			return uint32(step.Slot), uint32(posts.Value(run*all[step.Slot] + uint32(step.Count))), true
		}
	}
	return 0, 0, false
}

// A delivery is what joins a post to the wait for it.
type delivery struct{ to, note, value uint32 }

// deliveries returns what all ranks of some schedules post in their runs, by who does.
func deliveries(all []*schedule.Schedule, runs uint32) map[delivery]int {
	by := map[delivery]int{}
	for r, s := range all {
		count := map[[2]int32]uint32{}
		for range runs {
			for _, l := range s.Lanes {
				for i := range l {
					if l[i].Kind.Posts() && l[i].Slot != schedule.NoSlot {
						at := [2]int32{l[i].Peer, l[i].Slot}
						count[at]++
						by[delivery{uint32(at[0]), uint32(at[1]), uint32(posts.Value(count[at]))}] = r
					}
				}
			}
		}
	}
	return by
}

// TestArrivals has pipelined rings with segments in several lanes. Whenever a member has waited for any of them, the
// arrivals are awaits that the schedule has next in some lane, whose posts are those of the rank that the schedule says;
// and every post is recorded once, by that rank.
func TestArrivals(t *testing.T) {
	const size, n, runs = 4, 1000, 3
	call := schedule.Call{Op: schedule.AllReduce, Size: size, Count: n, Line: 8, Nodes: make([]int, size)}
	at := slices.IndexFunc(algorithms.For(schedule.AllReduce), func(a algorithms.Algorithm) bool { return a.Name == "ring" })
	for _, lanes := range []int{2, 4} {
		emit := schedule.Pipeline(schedule.Segmentation{Concurrency: lanes}, algorithms.For(schedule.AllReduce)[at].Emit)
		var all []*schedule.Schedule
		for r := range size {
			all = append(all, schedule.Build(&call, r, emit))
		}
		if len(all[0].Lanes) != lanes {
			t.Fatalf("%d lanes, want %d", len(all[0].Lanes), lanes)
		}
		by := deliveries(all, runs)
		file, err := trace.NewFile(size, trace.Slots(size))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var mu sync.Mutex
		waits := 0
		onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
			var err error
			if m.Timeline, err = trace.NewRecorder(file, m.Me, size); err != nil {
				return err
			}
			x, err := Compile(m, bindingOf(m, &call, emit))
			if err != nil {
				return err
			}
			var e Execution
			e.Prepare(m, &x)
			in, out, _, _ := vectors(m, n)
			for run := range uint32(runs) {
				if err := barrier(); err != nil {
					return err
				}
				e.Bind(in, out, nil, nil)
				e.Begin(uint64(run))
				for {
					if _, ended, err := e.Advance(ctx); err != nil {
						return err
					} else if ended {
						break
					}
					if err := m.Control.WaitFunc(ctx, e.Ready); err != nil {
						return err
					}
					got, ok := e.Arrivals(nil)
					if !ok || len(got) == 0 {
						return fmt.Errorf("%v, %v: lanes wait, and something has arrived", got, ok)
					}
					mu.Lock()
					waits++
					mu.Unlock()
					want := e.expected(all[m.Me], run)
					for _, rec := range got {
						p := delivery{uint32(m.Me), rec.Note, rec.Value}
						from, posted := by[p]
						if !slices.Contains(want, p) || !posted || from != (m.Me+size-1)%size || rec.Kind != trace.StepWait || rec.Count != 1 {
							return fmt.Errorf("run %d: %+v; the schedule waits for %v, and %d posts it (%v)", run, rec, want, from, posted)
						}
					}
				}
			}
			return nil
		})
		if waits == 0 {
			t.Error("no member has waited")
		}
		if got := postsIn(t, file, size); len(got) != len(by) {
			t.Errorf("%d posts are recorded, want %d", len(got), len(by))
		} else {
			for p, from := range by {
				if got[p] != from {
					t.Errorf("%+v is recorded of rank %d, want %d", p, got[p], from)
				}
			}
		}
	}
}

// expected returns what lanes wait for next, as a schedule says.
func (e *Execution) expected(s *schedule.Schedule, run uint32) (all []delivery) {
	for i, code := range e.of.lanes {
		done := 0
		for j := range code[:e.next[i]] {
			if code[j].kind == schedule.Await {
				done++
			}
		}
		if note, value, waits := ofLane(s, i, done, run); waits {
			all = append(all, delivery{uint32(s.Rank), note, value})
		}
	}
	return all
}

// postsIn returns the posts that ranks have recorded, each of which must be there once.
func postsIn(t *testing.T, file *os.File, size int) map[delivery]int {
	t.Helper()
	by := map[delivery]int{}
	for r := range size {
		image, err := trace.Image(file, r)
		if err != nil {
			t.Fatal(err)
		}
		log, err := trace.Parse(image)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range log.Records {
			if rec.Kind.Class() != trace.Post || rec.Count == 0 {
				continue
			}
			p := delivery{uint32(rec.Peer), rec.Note, rec.Value}
			if _, twice := by[p]; twice {
				t.Errorf("rank %d: %+v is recorded twice", r, rec)
			}
			by[p] = r
		}
	}
	return by
}
