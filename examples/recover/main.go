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
	log.SetPrefix("recover: ")
	steps, work := options()
	ctx := context.Background()
	p, err := gaspi.Init(ctx, gaspi.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	fmt.Printf("process %d\n", os.Getpid())
	j := survivorJob{p: p, steps: steps, work: work}
	for group := p.World(); ; {
		team, err := j.try(ctx, group)
		if err != nil {
			if !errors.Is(err, gaspi.ErrRankDead) && !errors.Is(err, gaspi.ErrRevoked) {
				log.Fatal(err) // it is not for us to repair
			}
			fmt.Println(err)
			_ = group.Revoke(err) // it is committed
		}
		over, err := j.over(ctx, group, err == nil)
		if team != nil {
			_ = team.Close() // not before, since others may have read from its memory until then
		}
		if err == nil && !over {
			group, err = j.survivors(ctx, group)
		}
		if err != nil {
			log.Fatal(err)
		}
		if over {
			break
		}
	}
	if _, err := fmt.Printf("step %d: the total is %d\n", j.now.step, j.now.total); err != nil {
		log.Fatal(err)
	}
}

// A state is what a rank needs to go on from a step.
type state struct{ step, total int64 }

// A survivorJob is what survives the death of a rank.
type survivorJob struct {
	p           *gaspi.Proc
	steps       int64
	work        time.Duration
	now, before state // after the last step, and before it
}

// try runs the job with the ranks of a group, to its end or to the next death, and returns
// the team that it has used, if there is one.
func (j *survivorJob) try(ctx context.Context, group *gaspi.Group) (*collectives.Team, error) {
	team, err := collectives.NewTeam(ctx, group, collectives.Config{RevokeWith: group})
	if err != nil {
		return nil, err
	}
	if err := j.goBack(ctx, group); err != nil {
		return team, err
	}
	for j.now.step < j.steps {
		time.Sleep(j.work)
		sum := []int64{1 + int64(j.p.Rank())} // what this rank adds in each step
		if err := collectives.AllReduce(ctx, team, sum, collectives.Sum); err != nil {
			return team, err
		}
		j.before, j.now = j.now, state{j.now.step + 1, j.now.total + sum[0]}
	}
	return team, nil
}

// over reports whether all that are left have come to the end: else others still need
// this rank.
func (j *survivorJob) over(ctx context.Context, group *gaspi.Group, done bool) (bool, error) {
	flags := uint32(0)
	if done {
		flags = 1
	}
	flags, err := group.Agree(ctx, flags)
	return flags == 1, err
}

// survivors makes a group of the ranks that are left, and says who is not.
func (j *survivorJob) survivors(ctx context.Context, group *gaspi.Group) (*gaspi.Group, error) {
	left, err := group.Shrink(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range group.Ranks() {
		if !slices.Contains(left.Ranks(), r) {
			fmt.Printf("step %d: rank %d is lost\n", j.now.step, r)
		}
	}
	return left, nil
}

// goBack goes back to the last step that all have. They are apart by one at most:
// nobody can finish a step that another one has not begun.
func (j *survivorJob) goBack(ctx context.Context, group *gaspi.Group) error {
	last := make([]int64, 1)
	if err := gaspi.AllReduce(ctx, group, []int64{j.now.step}, last, gaspi.Min); err != nil {
		return err
	}
	if last[0] < j.now.step {
		j.now = j.before
	}
	if group.Size() < j.p.Size() {
		fmt.Printf("step %d: %d ranks go on\n", j.now.step, group.Size())
	}
	return nil
}
