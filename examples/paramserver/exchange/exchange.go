// Package exchange is the traffic of programs in which rank 0 keeps parameters and the
// other ranks work: they send it vectors, it takes the first few that are finished, adds
// them or looks at them one by one, and gives new parameters to those it has taken from.
// A parameter server does that, and so does the trainer of reinforcement learning.
//
// There are three ways to carry it. Objects is package hoplite: contributions and
// parameters are objects with names, sums are made along the way and parameters passed on
// by those who have them. Turns and Eager are what one would write first, with gaspi's
// one-sided calls between rank 0 and each of the others; they are the baseline that
// Objects is compared with. A program computes the same with each of the three.
package exchange

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A Way is how vectors get from rank to rank.
type Way int

const (
	// Objects puts them into an object store: reductions in chains, broadcasts passed on.
	Objects Way = iota
	// Turns lets rank 0 fetch one contribution after the other, in order of arrival, into
	// one buffer, and write the parameters to one rank after the other.
	Turns
	// Eager lets all write at once, each into a buffer of its own at rank 0, which so needs
	// as many buffers as there are workers. Parameters are written as with Turns.
	Eager
)

// String is the way as reports show it.
func (w Way) String() string {
	switch w {
	case Objects:
		return "objects"
	case Turns:
		return "turns"
	case Eager:
		return "eager"
	}
	return fmt.Sprintf("way %d", int(w))
}

// Config holds what all ranks agree on before they begin.
type Config struct {
	// Way is how parameters and contributions travel.
	Way Way
	// Params and Contribution are numbers of elements: of the parameters, and of what a
	// worker contributes at a time. At least 1.
	Params, Contribution int
	// Quorum is how many contributions rank 0 takes at a time if so many workers live, from 1 to
	// workers.
	Quorum func(workers int) int
	// KeepGoing makes the job go on without workers that died, as long as there is one and
	// rank 0 lives. Otherwise calls end with an error that matches gaspi.ErrRankDead.
	KeepGoing bool
	// Chunk is how many bytes Objects passes on at a time; see hoplite.Config. 0 means its
	// default.
	Chunk int64
}

// A Server is rank 0's side. Its calls are made by one goroutine.
type Server interface {
	// Publish gives params to the workers whose contributions were taken since the last
	// Publish, the first time to all. params is the caller's again when it returns.
	Publish(ctx context.Context, params []float32) error
	// Sum blocks until a quorum of workers has contributed, and shows the sum of what they
	// sent and whose it is, ascending. Both are valid during use only. With float32
	// the order of additions shows in the last bits, unless contributions keep to a Grid.
	Sum(ctx context.Context, use func(sum []float32, from []gaspi.Rank)) error
	// Each is Sum that shows the contributions one by one, in the order in which they come.
	Each(ctx context.Context, use func(contribution []float32, from gaspi.Rank)) error
	// Workers are the workers that live, ascending. The caller owns the slice.
	Workers() []gaspi.Rank
	// Close tells the workers that there is nothing more, waits until they have heard it, and
	// gives back what was taken. After an error of another call it only gives back.
	Close(ctx context.Context) error
}

// A Worker is the side of any other rank. Its calls are made by one goroutine: Fetch,
// Contribute, Fetch, and so on.
type Worker interface {
	// Fetch blocks until rank 0 has parameters for this rank and shows them; they are
	// valid during use only. It returns false, and does not call use, when there are no more.
	Fetch(ctx context.Context, use func(params []float32)) (bool, error)
	// Contribute sends a vector, which is the caller's again when it returns.
	Contribute(ctx context.Context, contribution []float32) error
	// Close ends this rank's part. It blocks until rank 0 has called Close too.
	Close(ctx context.Context) error
}

// Serve begins rank 0's part. All ranks of the job call Serve or Work, with the same cfg.
func Serve(ctx context.Context, p *gaspi.Proc, cfg Config) (Server, error) {
	if p.Size() < 2 {
		return nil, fmt.Errorf("a job of %d rank has no workers; start at least 2 ranks", p.Size())
	}
	if cfg.Way == Objects {
		return newObjectServer(ctx, p, cfg)
	}
	return newDirectServer(ctx, p, cfg)
}

// Work begins the part of another rank.
func Work(ctx context.Context, p *gaspi.Proc, cfg Config) (Worker, error) {
	if cfg.Way == Objects {
		return newObjectWorker(ctx, p, cfg)
	}
	return newDirectWorker(ctx, p, cfg)
}

// server is the rank that serves.
const server gaspi.Rank = 0

// A ticket is a notification's value: the number of a version of the parameters, counted
// from 1, which are for the rank that gets it, or that there are no more.
type ticket = gaspi.Value

const noMore ticket = 1<<32 - 1
