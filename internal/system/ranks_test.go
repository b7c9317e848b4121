package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

// roles are what ranks do:
//
//	reduce     allreduces of 1 MiB for ever, until a rank is gone; then it says
//	           which ranks are, until it has learned of as many as its argument
//	           says, and ends well
//	many       a barrier and a reduction, with few descriptors
//	stop       the same, but it ends with the error, as most programs do
//	trial      the trial that its argument is, as JSON
//	work       steps that compute, send to the next rank, and meet: see playWork
//	pressed    small reductions until a file in the folder of its argument says that it
//	           is enough
//
// and steps, each for ever, until one ends with an error.
func roles() map[string]testenv.Role {
	all := map[string]testenv.Role{
		"reduce": rank(playReduce), "many": rank(playMany), "trial": rank(playTrial), "pressed": rank(playPressed), "work": rank(playWork),
		"stop": rank(func(ctx context.Context, p *gaspi.Proc, _ []string) error { return reduceForEver(ctx, p) }),
	}
	for name, step := range steps {
		all[name] = rank(func(ctx context.Context, p *gaspi.Proc, _ []string) error { return repeat(ctx, p, step) })
	}
	return all
}

// rank returns the role of a rank, which has jobLimit.
func rank(play func(ctx context.Context, p *gaspi.Proc, args []string) error) testenv.Role {
	cfg := gaspi.Config{PassiveMax: 256} // memory that hundreds of ranks can afford
	return func(ctx context.Context, args []string) error {
		ctx, cancel := context.WithTimeout(ctx, jobLimit)
		defer cancel()
		return ranktest.Rank(cfg, play)(ctx, args)
	}
}

func playReduce(ctx context.Context, p *gaspi.Proc, args []string) error {
	losses, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	err = reduceForEver(ctx, p)
	gone, isGone := errors.AsType[*gaspi.RankError](err)
	if !isGone {
		return fmt.Errorf("allreduce: %w, want an error that names a rank", err)
	}
	fmt.Println(err)
	fmt.Println("named", gone.Rank)
	for {
		var lost []string
		for r := range gaspi.Rank(p.Size()) {
			if p.Failure(r) != nil {
				lost = append(lost, fmt.Sprint(r))
			}
		}
		if len(lost) >= losses {
			fmt.Println("lost", strings.Join(lost, " "))
			break
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("lost only %v: %w", lost, err)
		}
		time.Sleep(time.Millisecond) // sleep: no call waits for one more loss, and its time is not asserted
	}
	return meet(ctx, p)
}

// reduceForEver ends with an error.
func reduceForEver(ctx context.Context, p *gaspi.Proc) error {
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	defer team.Close()
	buf, err := collectives.Alloc[float64](ctx, team, 1<<17)
	if err != nil {
		return err
	}
	for step := 0; ; step++ {
		for i := range buf {
			buf[i] = 1
		}
		if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
			return err
		}
		if i := slices.IndexFunc(buf, func(x float64) bool { return x != float64(p.Size()) }); i >= 0 {
			return fmt.Errorf("step %d: element %d is %g, want %d", step, i, buf[i], p.Size())
		}
		if step == 3 {
			fmt.Println("begun")
		}
	}
}

// A stepper makes what a rank does again and again, which ends with an error when the
// rank has lost another.
type stepper func(ctx context.Context, p *gaspi.Proc) (func(step int) error, error)

// steps are barriers of all ranks, reductions of package gaspi, allreduces of lengths that no
// call had before, and groups of all ranks.
var steps = map[string]stepper{
	"barrier": func(ctx context.Context, p *gaspi.Proc) (func(int) error, error) {
		return func(int) error { return p.Barrier(ctx, p.World()) }, nil
	},
	"small": func(ctx context.Context, p *gaspi.Proc) (func(int) error, error) {
		x := make([]int64, 8)
		return func(int) error { return gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Max) }, nil
	},
	"shapes": func(ctx context.Context, p *gaspi.Proc) (func(int) error, error) {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		return func(step int) error { return collectives.AllReduce(ctx, team, make([]int32, 1+step), collectives.Sum) }, err
	},
	"commit": func(ctx context.Context, p *gaspi.Proc) (func(int) error, error) {
		return func(int) error {
			g, err := p.NewGroup(p.World().Ranks()...)
			if err == nil {
				err = g.Commit(ctx)
			}
			if err == nil {
				err = p.Barrier(ctx, p.World()) // nobody is in the commit any more
			}
			if err == nil {
				err = g.Delete()
			}
			return err
		}, nil
	},
}

// repeat ends with the error of a step.
func repeat(ctx context.Context, p *gaspi.Proc, of stepper) error {
	do, err := of(ctx, p)
	for step := 0; err == nil; step++ {
		if err = do(step); step == 3 && err == nil {
			fmt.Println("begun")
		}
	}
	return err
}

// meet makes a group of the survivors, which proves that they can go on.
func meet(ctx context.Context, p *gaspi.Proc) error {
	if err := p.ResetState(); err != nil {
		return err
	}
	group, err := p.NewGroup()
	if err != nil {
		return err
	}
	for r := range gaspi.Rank(p.Size()) {
		if p.Failure(r) == nil {
			if err := group.Add(r); err != nil {
				return err
			}
		}
	}
	if err := group.Commit(ctx); err != nil {
		return err
	}
	x := []int64{1}
	if err := gaspi.AllReduce(ctx, group, x, x, gaspi.Sum); err != nil {
		return err
	}
	fmt.Println("met", x[0])
	return p.Barrier(ctx, group)
}

// ranksOn returns the processes of ranks on a host, by rank. Processes that are
// between two programs have no rank yet.
func ranksOn(h *cluster.Host) (map[int]int, error) {
	all, err := h.Processes()
	if err != nil {
		return nil, err
	}
	found := map[int]int{}
	for _, p := range all {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if err != nil {
			continue // it has ended meanwhile
		}
		for entry := range strings.SplitSeq(string(env), "\x00") {
			text, is := strings.CutPrefix(entry, "GASPI_RANK=")
			if rank, err := strconv.Atoi(text); is && err == nil {
				found[rank] = p.PID
			}
		}
	}
	return found, nil
}
