// Recover is a job that outlives its ranks. All ranks add up numbers step by
// step; when one dies, the others make a group of those that are left, agree on
// the last step that all of them have, and go on from there:
//
//	gaspi-run -n 4 --on-failure continue ./examples/recover
//
// and, from another terminal, kill -9 one of the ranks whose numbers it prints.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

func main() {
	log.SetFlags(0)
	steps, work := options()
	ctx := context.Background()
	p, err := gaspi.Init(ctx, gaspi.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	fmt.Printf("process %d\n", os.Getpid())
	j := job{p: p, steps: steps, work: work}
	for {
		err := j.try(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, gaspi.ErrRankDead) { // anything else is not for us to repair
			log.Fatal(err)
		}
		fmt.Println(err)
	}
	fmt.Printf("step %d: the total is %d\n", j.now.step, j.now.total)
}

// A state is what a rank needs to go on from a step.
type state struct{ step, total int64 }

// A job is what survives the death of a rank.
type job struct {
	p           *gaspi.Proc
	steps       int64
	work        time.Duration
	now, before state // after the last step, and before it
	lost        []gaspi.Rank
}

// try runs the job with the ranks that are left, to its end or to the next death.
func (j *job) try(ctx context.Context) error {
	group, err := j.survivors()
	if err != nil {
		return err
	}
	defer group.Delete()
	if err := group.Commit(ctx); err != nil {
		return err
	}
	team, err := collectives.NewTeam(ctx, group, collectives.Config{})
	if err != nil {
		return err
	}
	defer team.Close()
	if err := j.agree(ctx, group); err != nil {
		return err
	}
	for j.now.step < j.steps {
		time.Sleep(j.work)
		sum := []int64{1 + int64(j.p.Rank())} // what this rank adds in each step
		if err := collectives.AllReduce(ctx, team, sum, collectives.Sum); err != nil {
			return err
		}
		j.before, j.now = j.now, state{j.now.step + 1, j.now.total + sum[0]}
	}
	return j.p.Barrier(ctx, group) // nobody leaves whom others may still need
}

// survivors makes a group of the ranks that are left, and says who is not.
func (j *job) survivors() (*gaspi.Group, error) {
	var left []gaspi.Rank
	for r := range gaspi.Rank(j.p.Size()) {
		switch gone := j.p.Failure(r) != nil; {
		case !gone && !slices.Contains(j.lost, r):
			left = append(left, r)
		case gone && !slices.Contains(j.lost, r):
			j.lost = append(j.lost, r)
			fmt.Printf("step %d: rank %d is lost\n", j.now.step, r)
		}
	}
	if len(j.lost) > 0 {
		// From here on they are no news, and waits do not end because of them.
		if err := j.p.ResetState(j.lost...); err != nil {
			return nil, err
		}
	}
	return j.p.NewGroup(left...)
}

// agree goes back to the last step that all have. They are apart by one at most:
// nobody can finish a step that another one has not begun.
func (j *job) agree(ctx context.Context, group *gaspi.Group) error {
	last := make([]int64, 1)
	if err := gaspi.AllReduce(ctx, group, []int64{j.now.step}, last, gaspi.Min); err != nil {
		return err
	}
	if last[0] < j.now.step {
		j.now = j.before
	}
	if len(j.lost) > 0 {
		fmt.Printf("step %d: %d ranks go on\n", j.now.step, group.Size())
	}
	return nil
}
