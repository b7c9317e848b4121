package core

import "github.com/gaspi-go/gaspi-go/hoplite/internal/shape"

// A Rank numbers the members of a job from 0. NoRank is none of them.
type Rank int32

// NoRank stands where no rank is meant.
const NoRank Rank = -1

// A CallID is the runner's name for one call of the local program. It is not used
// again while the call is open.
type CallID uint64

// A Code says how a call ended, or why a message is sent.
type Code uint8

const (
	// OK means that the call did what it says.
	OK Code = iota
	// Exists means that the id names an object already, of another size or content.
	Exists
	// Lost means that the object was put and every copy of it is gone.
	Lost
	// Deleted means that the object was deleted while the call waited for its bytes.
	Deleted
	// Full means that the store has no room, and only a Delete could make some.
	Full
	// Mismatch means that the sources of a reduction differ in size.
	Mismatch
	// Canceled means that the call was canceled by Cancel.
	Canceled
	// Gone is between ranks: what was asked for is not here.
	Gone
	// Restart is between ranks: the object is made anew, ask again.
	Restart
)

// String is the code as one word.
func (c Code) String() string {
	names := [...]string{"ok", "exists", "lost", "deleted", "full", "mismatch", "canceled", "gone", "restart"}
	if int(c) < len(names) {
		return names[c]
	}
	return "invalid"
}

// Config is the same on all ranks, but for Rank and Near.
type Config struct {
	// Rank is this rank.
	Rank Rank
	// Size is the number of ranks.
	Size int
	// Capacity is the size of the store in bytes. If it is too small, calls wait or end with
	// Full.
	Capacity int64
	// Align is the multiple of bytes at which objects start; 0 means 64. Greater
	// wastes room, smaller makes ranks share cache lines.
	Align int64
	// Inline is the greatest size that the directory carries itself; the paper has
	// 64 KiB. Negative: none but objects of no bytes. It bounds the size of a message.
	Inline int64
	// InlineQuota is how many such bytes one rank's directory holds. An object that does not
	// fit is fetched from the store of the rank that put it.
	InlineQuota int64
	// Chunk is the size of one put, 0 means 256 KiB. Smaller lets the next rank start
	// earlier, greater costs fewer notifications.
	Chunk int64
	// Window is how many chunks of a transfer are under way; 0 means 2.
	Window int
	// Slots is how many transfers a rank receives at a time, 0 means 256. The rest wait.
	Slots int
	// Near says of each rank whether this one reads its store, so that inputs and targets of reductions need
	// not be sent: nil means none. It may differ between ranks.
	Near []bool
	// LendFrom is the least size of an object in bytes that a Get copies from such a rank by itself, although
	// no reduction makes it; 0 means none. It may differ between ranks.
	LendFrom int64
	// Star lets the caller of a reduction fold all sources itself.
	Star bool
	// ShareFrom is the least size in bytes of a target of which ranks that only lend their sources to the
	// reduction fold chunks; 0 means none.
	ShareFrom int64
	// Links price the shapes of reductions.
	Links shape.Links
	// Shape forces a shape.
	Shape shape.Shape
	// Builds with the tag mutants can break the protocol on purpose: field Mutant. Other
	// builds have neither the field nor the code.
	mutation
}

func (c Config) withDefaults() Config {
	if c.Align == 0 {
		c.Align = 64
	}
	if c.Chunk == 0 {
		c.Chunk = 256 << 10
	}
	if c.Window == 0 {
		c.Window = 2
	}
	if c.Slots == 0 {
		c.Slots = 256
	}
	return c
}

// A Stream names what one position of a reduction makes; the zero Stream names nothing.
type Stream struct {
	// Owner called the reduction; Reduce is its number there, from 1.
	Owner  Rank
	Reduce uint64
	// Position is the place in the shape, Attempt counts its restarts.
	Position, Attempt uint32
}

func (s Stream) none() bool { return s.Reduce == 0 }
