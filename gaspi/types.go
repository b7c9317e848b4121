package gaspi

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Rank numbers a process of the job, from 0 to Size-1.
type Rank = base.Rank

// SegmentID names a segment of a rank, from 0 to Config.Segments-1.
type SegmentID = segment.ID

// NotificationID names a notification of a segment, from 0.
type NotificationID = notify.ID

// Value is what a notification carries; never 0.
type Value = notify.Value

// Span is a range of a local segment whose bounds have been checked.
type Span = segment.Span

// Element is what typed views and small reductions may consist of.
type Element = segment.Element

// A Notification is what a write posts when its data has arrived.
type Notification struct {
	ID    NotificationID
	Value Value // must not be 0
	// Add adds Value to the notification instead of overwriting it, so that
	// several posts before a Reset are counted and none is lost. An extension of
	// the standard.
	Add bool
}

// A Remote is an address at a rank: a segment of that rank and an offset in it,
// in bytes. Segment.At makes it; so may the program.
type Remote struct {
	Rank    Rank
	Segment SegmentID
	Offset  uint64
}

// String is the address as messages show it.
func (r Remote) String() string {
	return fmt.Sprintf("rank %d segment %d [%d]", r.Rank, r.Segment, r.Offset)
}

// Plus is the address n bytes further.
func (r Remote) Plus(n uint64) Remote {
	r.Offset += n
	return r
}

// Version is the version of this module, by semantic versioning.
const Version = "0.1.0-dev"

// StandardVersion is the version of the GASPI standard that this package
// follows; docs/GASPI.md states the deliberate differences.
const StandardVersion = "17.1"
