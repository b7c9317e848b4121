package executor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// lineCalls are calls of all algorithms whose awaits look into lines, with vectors or blocks of n elements.
func lineCalls(size, n int) (all []schedule.Call, emit []schedule.Emitter, names []string) {
	for _, a := range algorithms.All() {
		c := schedule.Call{Op: a.Op, Size: size, Root: size - 1, Count: n, Line: 8}
		if a.Coded || a.Hosts || a.Shares || a.Fits != nil && a.Fits(&c) != nil {
			continue
		}
		if s := schedule.Build(&c, c.Root, a.Emit); len(apart(s)) > 0 {
			all, emit, names = append(all, c), append(emit, a.Emit), append(names, fmt.Sprintf("%v %s", a.Op, a.Name))
		}
	}
	return all, emit, names
}

// apart are the awaits of a schedule that name their data.
func apart(s *schedule.Schedule) (all []schedule.Step) {
	for _, lane := range s.Lanes {
		for i := range lane {
			if lane[i].Kind == schedule.Await && lane[i].Apart {
				all = append(all, lane[i])
			}
		}
	}
	return all
}

// lines are the awaits of an executable that look into lines.
func lines(x *Executable) (all []*instruction) {
	for _, l := range x.lanes {
		for i := range l {
			if l[i].kind == schedule.Await && l[i].line {
				all = append(all, &l[i])
			}
		}
	}
	return all
}

// lineOf is where the line of an await lies in the run of the number that the execution has.
func lineOf(e *Execution, in *instruction) uint64 { return in.offset + e.of.turns[in.to].at(e.number) }

// TestLines has the data of short vectors lie in lines: after a run, those of all awaits hold the values of the run, but
// those of the first, in which senders did not know the way.
func TestLines(t *testing.T) {
	const size, runs = 4, 6
	for _, n := range []int{1, 7, 8} {
		calls, emits, names := lineCalls(size, n)
		if len(calls) < 5 {
			t.Fatalf("%d algorithms put data apart, want those of allgather, allreduce, alltoall, broadcast and reduce", len(calls))
		}
		for i, c := range calls {
			t.Run(fmt.Sprintf("%s of %d", names[i], n), func(t *testing.T) {
				onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
					b := bindingOf(m, &c, emits[i])
					b.Depth = schedule.Depth{Copies: 4, Batch: 1}
					x, err := compileAll(m, b, barrier)
					if err != nil {
						return err
					}
					want := len(apart(b.Schedule))
					if n*8 > gaspi.LinePayload {
						want = 0
					}
					if got := len(lines(&x)); got != want {
						return fmt.Errorf("%d awaits look into lines, want %d", got, want)
					}
					var e Execution
					e.Prepare(m, &x)
					in, out, from, _ := vectors(m, n*size)
					e.Bind(in, out, nil, nil)
					for round := range runs {
						for i := range from {
							from[i] = given(round, m.Me, i)
						}
						if err := run(ctx, &e); err != nil {
							return err
						}
						for _, in := range lines(&x) {
							if at := lineOf(&e, in); !m.Control.PollLine(at, e.notification(in).Value) && round > 0 {
								return fmt.Errorf("run %d: the line at byte %d has another value", round, at)
							}
						}
						if err := barrier(); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}

// TestLinesOfBefore: an executable finds no value in memory that another one has used, nor, once it was made as if it had
// never run, its own.
func TestLinesOfBefore(t *testing.T) {
	const size, n, copies = 2, 1, 2
	call := schedule.Call{Op: schedule.AllReduce, Size: size, Count: n, Line: 8}
	of := algorithms.For(schedule.AllReduce)
	emit := of[slices.IndexFunc(of, func(a algorithms.Algorithm) bool { return a.Name == "dissemination" })].Emit
	onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
		empty := func(e *Execution) error {
			for _, in := range lines(e.of) {
				for e.number = range copies {
					if m.Control.PollLine(lineOf(e, in), e.notification(in).Value) {
						return fmt.Errorf("there is a value before run %d", e.number)
					}
				}
			}
			return nil
		}
		b := bindingOf(m, &call, emit)
		var x Executable
		for range 2 {
			var err error
			if x, err = compileAll(m, b, barrier); err != nil {
				return err
			}
			var e Execution
			e.Prepare(m, &x)
			in, out, _, _ := vectors(m, n)
			e.Bind(in, out, nil, nil)
			for range 2 { // of Renew
				if err := errors.Join(empty(&e), barrier()); err != nil {
					return err
				}
				for range copies {
					if err := run(ctx, &e); err != nil {
						return err
					}
				}
				if err := barrier(); err != nil {
					return err
				}
				for id := range Notifications(b.Schedule, b.Depth) {
					if _, err := m.Control.Reset(b.Slot + gaspi.NotificationID(id)); err != nil {
						return err
					}
				}
				x.Renew()
			}
			for _, in := range lines(&x) { // as the next executable would take for its own
				for e.number = range copies {
					at := lineOf(&e, in) + gaspi.LineSize
					binary.LittleEndian.PutUint32(m.Control.Bytes()[at-4:], uint32(e.notification(in).Value))
				}
			}
		}
		return nil
	})
}
