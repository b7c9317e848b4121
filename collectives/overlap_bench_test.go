package collectives_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// BenchmarkOverlap reports how long an allreduce of 4 MiB takes, what Wait takes after Start and a pause
// of four times that, and how much longer work of that length takes beside it: of two processes, whose
// pauses sleep or compute.
func BenchmarkOverlap(b *testing.B) {
	for name, c := range map[string]launcher.Config{
		"shm": {Transport: "shm"}, "tcp": {Transport: "tcp"},
		"emulated": {Transport: "shm", Env: []string{"GASPI_EMULATE=latency=20us,bandwidth=200MB/s"}},
	} {
		for _, how := range []string{"caller", "auto"} {
			b.Run(name+"/"+how, func(b *testing.B) {
				c.Ranks = 2
				for range b.N {
					res := ranktest.Succeeds(b, c, "overlap", how)
					for line := range strings.Lines(res.Stdout) {
						b.Log(strings.TrimSpace(line))
					}
				}
			})
		}
	}
}

// playOverlap measures, and rank 0 prints the medians.
func playOverlap(ctx context.Context, p *gaspi.Proc, args []string) error {
	cfg := collectives.Config{}
	if args[0] == "caller" {
		cfg.Progress = collectives.Caller
	}
	team, err := collectives.NewTeam(ctx, p.World(), cfg)
	if err != nil {
		return err
	}
	plan, err := collectives.PlanAllReduce(ctx, team, make([]float32, 1<<20), collectives.Sum, collectives.Algorithm("ring"), collectives.Concurrency(4))
	if err != nil {
		return err
	}
	const runs = 15
	median := func(once func() (time.Duration, error)) (time.Duration, error) {
		var all []time.Duration
		for range runs {
			if err := p.Barrier(ctx, p.World()); err != nil {
				return 0, err
			}
			d, err := once()
			if err != nil {
				return 0, err
			}
			all = append(all, d)
		}
		slices.Sort(all)
		return all[runs/2], nil
	}
	timed := func(do func() error) (time.Duration, error) {
		began := time.Now()
		err := do()
		return time.Since(began), err
	}
	blocking, err := median(func() (time.Duration, error) { return timed(func() error { return plan.Run(ctx) }) })
	if err != nil {
		return err
	}
	said := []int64{int64(blocking)}
	if err := collectives.AllReduce(ctx, team, said, collectives.Max); err != nil {
		return err
	}
	blocking = time.Duration(said[0])
	spin := newWork()
	for _, pause := range []struct {
		name string
		do   func()
	}{
		{"sleep", func() { time.Sleep(4 * blocking) }}, // sleep: that is what is measured
		{"compute", func() { spin.turn(4 * blocking) }},
	} {
		alone, err := median(func() (time.Duration, error) { return timed(func() error { pause.do(); return nil }) })
		if err != nil {
			return err
		}
		var beside []time.Duration
		wait, err := median(func() (time.Duration, error) {
			h, err := plan.Start()
			if err != nil {
				return 0, err
			}
			d, _ := timed(func() error { pause.do(); return nil })
			beside = append(beside, d)
			return timed(func() error { return h.Wait(ctx) })
		})
		if err != nil {
			return err
		}
		slices.Sort(beside)
		if p.Rank() == 0 {
			fmt.Printf("blocking %v, %s alone %v, beside it %v, then Wait %v\n", blocking, pause.name, alone, beside[runs/2], wait)
		}
	}
	return team.Close()
}

// work is what a processor does in a time that was measured before.
type work struct {
	rate float64 // turns per second
	sum  float64
}

func newWork() *work {
	w := &work{rate: 1e9, sum: 1}
	for range 3 {
		began := time.Now()
		w.turn(20 * time.Millisecond)
		w.rate *= 0.02 / time.Since(began).Seconds()
	}
	return w
}

func (w *work) turn(d time.Duration) {
	for range int(d.Seconds() * w.rate) {
		w.sum = w.sum*0.999 + 0.001 // needs the one before, so that none can be left out
	}
}
