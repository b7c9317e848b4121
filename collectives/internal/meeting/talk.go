package meeting

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// A Patience bounds the waits of a member for others.
type Patience struct {
	Limit time.Duration
	// Stalled is called after each wait of the limit, and ends the call by an error. So does Cut after a wait that ctx
	// ends before.
	Stalled func(context.Context) error
	Cut     func() error
}

// Talk says a word to the members of g, and returns what all of them say. It is collective, and blocks.
// When ctx ends first, the same call again goes on.
func (p Patience) Talk(ctx context.Context, g *gaspi.Group, say Word) (heard Word, err error) {
	w := []uint64{uint64(say)}
	err = p.Do(ctx, func(ctx context.Context) error { return gaspi.AllReduce(ctx, g, w, w, gaspi.Or) })
	return Word(w[0]), err
}

// Do makes a call that goes on when it is made again, each time for the limit, until it ends, Stalled or Cut
// has an error, or ctx ends. It blocks.
func (p Patience) Do(ctx context.Context, call func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(ctx, p.Limit)
		err := call(limited)
		cancel()
		if !nap.Ended(err) {
			return err
		}
		if ended := ctx.Err(); ended != nil {
			return cmp.Or(p.Cut(), endedWith(ended, err))
		}
		if err := p.Stalled(ctx); err != nil {
			return err
		}
	}
}

// endedWith returns the error of a call whose context ended with err and whose caller's context ended
// at that moment, too: that of the caller's, with the rest of the text.
func endedWith(ended, err error) error {
	if call, ok := errors.AsType[*gaspi.OpError](err); ok {
		said := *call
		said.Err = ended
		return &said
	}
	return ended
}
