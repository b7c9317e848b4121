package faults

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A need says whose loss must end a call with an error.
type need int

const (
	needsNobody need = iota // it goes on without whoever is lost
	needsPeer               // one other rank
	needsTeam               // all ranks of its group
	needsJob                // all ranks of the job
)

// A row is a call that blocks.
type row struct {
	call    string // as the lint names it, such as "gaspi.Proc.Barrier"
	way     string // which way of several to use it; may be empty
	needs   need
	once    bool          // it can be made once only
	dark    bool          // after two losses it may wait for ever, for what was forgotten with both
	faults  []faultKind   // nil for all
	told    bool          // who is lost may be told by other members, before this rank has lost it
	slack   time.Duration // how much later an error may come than others
	unsure  bool          // an error of a lost connection waits until nobody can tell of an end any more
	settles bool          // without the launcher too it waits until its peer has answered or the connection is lost
	// open prepares the call, which all members of a group do together.
	open func(ctx context.Context, m *member) (step, error)
}

func (x *row) String() string {
	if x.way == "" {
		return x.call
	}
	return x.call + " (" + x.way + ")"
}

// later is how much later than others errors of the row may come, where a host may be silent for
// silence.
func (x *row) later(silence time.Duration) time.Duration {
	if x.unsure {
		return x.slack + transport.LossMost(silence) - patience
	}
	return x.slack
}

// A step makes the call of a row for the i-th time.
type step func(ctx context.Context, i int) error

// A member is a rank that makes the call of a row.
type member struct {
	p      *gaspi.Proc
	group  *gaspi.Group
	id     gaspi.SegmentID // of its own, and so is the next
	me     int             // number in the group
	shift  int             // its peer is so many members further
	count  int             // elements of vectors
	forced string          // algorithms of teams, as collectives.Config takes them; empty for those that the model chooses
	victim gaspi.Rank      // whom the fault concerns
	draw   *rand.Rand      // of this rank alone
	end    step            // what a member does whose calls have all ended well; may be nil
}

// size is how many members the group has.
func (m *member) size() int { return m.group.Size() }

// next is a member further on.
func (m *member) next(by int) gaspi.Rank { return m.group.Ranks()[(m.me+by)%m.size()] }

// peer is the rank that a call to a single one goes to.
func (m *member) peer() gaspi.Rank { return m.next(m.shift) }

// rows are all rows, by package.
func rows() []row { return slices.Concat(gaspiRows(), collectiveRows(), sspRows(), hopliteRows()) }

// gapAt is how long a rank does something else before its i-th call: little at first, when
// the fault comes, and more when it is waited for.
func gapAt(draw *rand.Rand, i int) time.Duration {
	if i < 20 {
		return time.Duration(draw.Int64N(int64(time.Millisecond)))
	}
	return time.Duration(draw.Int64N(int64(mostGap)))
}

// mostGap is the upper bound of gapAt. A call may wait this long for a member that is between
// two calls and has not learned of a loss yet.
const mostGap = 200 * time.Millisecond

// pause waits for a time or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
