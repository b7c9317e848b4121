package executor

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// recorder makes the recorder of a rank alone, and returns with it what reads its records.
func recorder(t *testing.T) (*trace.Recorder, func() ([]trace.Record, error)) {
	t.Helper()
	file, err := trace.NewFile(1, trace.Slots(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r, err := trace.NewRecorder(file, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r, func() ([]trace.Record, error) { return recordsIn(file) }
}

func recordsIn(file *os.File) ([]trace.Record, error) {
	image, err := trace.Image(file, 0)
	if err != nil {
		return nil, err
	}
	log, err := trace.Parse(image)
	return log.Records, err
}

// TestTimelineOfSmallRuns has a member whose recorder has had its fill of short calls: a run whose post is there
// leaves no record, one that waits in vain leaves the wait, for no post, and one with a fresh recorder its put.
// A wait that has ended well is for its post.
func TestTimelineOfSmallRuns(t *testing.T) {
	full, ofFull := recorder(t)
	later := full.Now() + int64(time.Hour)
	for full.Keep(0, later, trace.RunPrice) {
	}
	fresh, ofFresh := recorder(t)
	last, ofLast := recorder(t)
	call := schedule.Call{Op: schedule.AllReduce, Size: 2, Count: 1, Line: 8, Nodes: make([]int, 2)}
	a := algorithms.For(schedule.AllReduce)[0]
	onMembers(t, 2, func(ctx context.Context, m *Member, barrier func() error) error {
		if m.Me == 0 {
			m.Timeline = full
		}
		x, err := compileAll(m, bindingOf(m, &call, a.Emit), barrier)
		if err != nil {
			return err
		}
		var e Execution
		e.Prepare(m, &x)
		in, out, _, _ := vectors(m, 1)
		e.Bind(in, out, nil, nil)
		if m.Me == 1 {
			for round := range 3 {
				if round == 1 {
					err = barrier() // the other has waited in vain
				}
				if err == nil {
					err = e.Run(ctx, uint64(round))
				}
				if err != nil {
					return fmt.Errorf("run %d: %w", round, err)
				}
			}
			return nil
		}
		// ready blocks until the post of the next run is there.
		ready := func() error {
			e.number = x.runs
			for i := range x.lanes[0] {
				if in := &x.lanes[0][i]; in.kind == schedule.Await {
					return m.Control.WaitFunc(ctx, func() bool { return e.arrived(in) })
				}
			}
			return fmt.Errorf("%s has no await", a.Name)
		}
		check := func(of func() ([]trace.Record, error), want trace.Action, notifications uint32) error {
			all, err := of()
			if err != nil || len(all) == 0 != (want == trace.None) || len(all) > 0 && (all[0].Kind != want || all[0].Count != notifications) {
				return fmt.Errorf("%+v: %w; want %v of %d first", all, err, want, notifications)
			}
			return nil
		}
		if err := ready(); err != nil {
			return err
		}
		if err := e.Run(ctx, 0); err != nil {
			return err
		}
		if _, _, kept := e.Recorded(); kept {
			return fmt.Errorf("a short run is recorded by %s", a.Name)
		}
		if err := check(ofFull, trace.None, 0); err != nil {
			return err
		}
		full.Keep(0, later, trace.RunPrice) // the run is in rapid succession, whatever the time
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := e.Run(short, 1); err == nil {
			return fmt.Errorf("the peer has not run")
		}
		if err := check(ofFull, trace.StepAwait, 0); err != nil {
			return err
		}
		if err := barrier(); err != nil {
			return err
		}
		if err := finish(ctx, &e); err != nil {
			return err
		}
		m.Timeline = fresh
		if err := e.Run(ctx, 2); err != nil {
			return err
		}
		if err := check(ofFresh, trace.StepPut, 1); err != nil {
			return err
		}
		m.Timeline = last
		e.stretch.ended = 1 // long ago
		for i := range x.lanes[0] {
			if x.lanes[0][i].kind == schedule.Await {
				e.record(x.lanes[0][i:i+1], true)
			}
		}
		return check(ofLast, trace.StepAwait, 1)
	})
}
