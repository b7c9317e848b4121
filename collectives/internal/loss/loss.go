// Package loss finds out whose end is why the members of a team cannot go on.
//
// It knows neither calls nor what a team does then. Package collectives calls it.
package loss

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// pingMost is how long it may take to find out what became of a member: others wait meanwhile.
const pingMost = 250 * time.Millisecond

// leaving is how long a member may take to leave, from the moment when it gives up its memory
// until others hear of its end.
const leaving = 2 * time.Second

// Members are the members of a team.
type Members struct {
	Proc    *gaspi.Proc
	Ranks   []gaspi.Rank   // of the job, by number in the team
	Group   *gaspi.Group   // of these, which is revoked when one gives up
	Control *gaspi.Segment // whose waits end when a member does
}

// Missing returns the error of the first member that died or was lost, or nil. A member that
// left normally is not missing: others may still wait for each other after its last call.
func (m *Members) Missing() error {
	return m.first(func(f *gaspi.RankError) bool { return !f.Left })
}

// gone returns the error of the first member that died, was lost, or left, or nil.
func (m *Members) gone() error {
	return m.first(func(*gaspi.RankError) bool { return true })
}

// first returns the first of those failures of members that count, or nil.
func (m *Members) first(counts func(*gaspi.RankError) bool) error {
	var ranks []gaspi.Rank
	for _, r := range m.Ranks {
		if f := m.Proc.Failure(r); f != nil && counts(f) {
			ranks = append(ranks, r)
		}
	}
	if f := m.Proc.FirstFailure(ranks); f != nil {
		return f
	}
	return nil
}

// Left returns the members that have left normally, of which everything that they sent has arrived.
func (m *Members) Left() []int {
	var left []int
	for i, r := range m.Ranks {
		if f := m.Proc.Failure(r); f != nil && f.Left && m.Proc.Silent(r) {
			left = append(left, i)
		}
	}
	return left
}

// Blame returns the end of a member if that is why err came, and else err. A member that ends gives up
// its memory first, and is known to be gone a moment later. It may have ended because another one had,
// and that is known when somebody tells of its own end. It may block for that moment.
func (m *Members) Blame(err error) error {
	if revoked := m.Group.Revoked(); revoked != nil { // it says why others have given up
		return revoked
	}
	if gone, ok := errors.AsType[*gaspi.RankError](err); ok {
		ctx, cancel := context.WithTimeout(context.Background(), pingMost)
		_ = m.Proc.Ping(ctx, gone.Rank) // it waits for that
		cancel()
	} else if errors.Is(err, gaspi.ErrNoSegment) {
		ctx, cancel := context.WithTimeout(context.Background(), leaving)
		_ = m.Control.WaitFunc(ctx, func() bool { return m.gone() != nil }) // however it ends
		cancel()
	} else {
		return err
	}
	return cmp.Or(m.Missing(), m.gone(), err)
}
