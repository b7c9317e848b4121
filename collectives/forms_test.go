package collectives_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// TestBlockingForms calls what other tests start as tasks only.
func TestBlockingForms(t *testing.T) {
	const ranks = 3
	plus := func(dst, a, b []int32) {
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	}
	onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		me := int32(team.Rank())
		of := func(i int) int32 { return int32(i) + me }
		dst, src := make([]int32, 6), vector(6, of)
		if _, err := collectives.ReduceInto(ctx, team, 1, dst, src, collectives.Sum); err != nil {
			return err
		}
		if err := matches("reduceinto", dst, func(i int) int32 { return int32(btoi(me == 1) * 3 * (i + 1)) }); err != nil {
			return err
		}
		if err := collectives.ReduceScatterFunc(ctx, team, dst[:2], src, plus, true); err != nil {
			return err
		}
		if err := matches("reducescatterfunc", dst[:2], func(i int) int32 { return 3 * (int32(i) + 2*me + 1) }); err != nil {
			return err
		}
		scanned := vector(4, of)
		if err := collectives.ScanFunc(ctx, team, scanned, plus, true); err != nil {
			return err
		}
		if err := matches("scanfunc", scanned, func(i int) int32 { return (me+1)*int32(i) + me*(me+1)/2 }); err != nil {
			return err
		}
		scanned = vector(4, of)
		if err := collectives.ExScanFunc(ctx, team, scanned, plus, true); err != nil {
			return err
		}
		return matches("exscanfunc", scanned, func(i int) int32 {
			if me == 0 {
				return int32(i)
			}
			return me*int32(i) + me*(me-1)/2
		})
	})
}

// TestUse works in place in a segment of the program.
func TestUse(t *testing.T) {
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		p := team.Group().Proc()
		seg, err := p.CreateSegment(ctx, 5, 800)
		if err != nil {
			return err
		}
		if err := team.Use(seg); err != nil {
			return err
		}
		buf, err := gaspi.View[float64](seg, 80, 50)
		if err != nil {
			return err
		}
		for i := range buf {
			buf[i] = float64(i * team.Rank())
		}
		// Only what peers reach can be done by it without a copy.
		plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum, collectives.Algorithm("direct"))
		if err != nil {
			return err
		}
		if plan.Algorithm() != "direct" {
			return fmt.Errorf("the plan does %q, want direct, not staged", plan.Algorithm())
		}
		if err := plan.Run(ctx); err != nil {
			return err
		}
		return matches("sum", buf, func(i int) float64 { return float64(3 * i) })
	})
}

// TestMachineFile takes parameters from a file, and says what is wrong with it.
func TestMachineFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, wrong string }{
		{"good", `{"cores": 2}`, ""},
		{"bad", `cores: 2`, "invalid character"},
		{"impossible", `{"bandwidth": -1}`, "model: bandwidth of a machine is -1"},
		{"missing", "", "no such file or directory"},
		{"fifo", "", "it is no regular file but a named pipe"},
		{"../../../../../../../../dev/zero", "", "it is no regular file but a device"},
		{".", "", "it is no regular file but a directory"},
		{"long", `{"cores": 2}` + strings.Repeat(" ", 1<<16), "it has more than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(dir, c.name)
			if c.text != "" {
				if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("GASPI_MACHINE", file)
			ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
				if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("GASPI_MACHINE=%q: %s", file, c.wrong)) {
					return fmt.Errorf("got %v, want an error with the variable, the path and %q", err, c.wrong)
				}
				if err != nil {
					return nil
				}
				if err := collectives.Barrier(ctx, team); err != nil {
					return err
				}
				return p.Barrier(ctx, p.World())
			})
		})
	}
}

// affine is the map x -> mul*x + add modulo 2^32; maps are composed, which is associative and does not
// commute.
type affine struct{ mul, add uint32 }

func compose(dst, a, b []affine) {
	for i := range dst {
		dst[i] = affine{a[i].mul * b[i].mul, a[i].add*b[i].mul + b[i].add}
	}
}

// TestAllReduceManyFunc composes maps of several vectors of each member, by all algorithms for an order.
func TestAllReduceManyFunc(t *testing.T) {
	for _, ranks := range []int{1, 3, 4} {
		for _, vectors := range []int{1, 2, 3} {
			onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
				const n = 1500
				of := func(rank, v, i int) affine { return affine{uint32(2*i + 4*v + 1), uint32(i + 10*rank + v)} }
				fresh := func() [][]affine {
					var all [][]affine
					for v := range vectors {
						all = append(all, vector(n, func(i int) affine { return of(team.Rank(), v, i) }))
					}
					return all
				}
				want := vector(n, func(int) affine { return affine{1, 0} })
				for r := range ranks {
					for v := range vectors {
						compose(want, want, vector(n, func(i int) affine { return of(r, v, i) }))
					}
				}
				names, err := collectives.Names(team, collectives.AllReduceManyFuncTask(fresh(), compose, true))
				if err != nil {
					return err
				}
				for _, name := range names {
					bufs := fresh()
					if err := collectives.AllReduceManyFunc(ctx, team, bufs, compose, true, collectives.Algorithm(name)); err != nil {
						return err
					}
					for _, x := range bufs {
						if err := matches(name, x, func(i int) affine { return want[i] }); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
	}
}
