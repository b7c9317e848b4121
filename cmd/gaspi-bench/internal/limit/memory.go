package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A Memory is the segment of a rank that measures, the same on all ranks, and the way to
// the segments of others without the runtime.
type Memory struct {
	P     *gaspi.Proc
	Seg   *gaspi.Segment
	pause func()       // between two looks at a bare flag
	keep  []gaspi.Span // what Map returned
	boxes uint64       // bytes of the inbox, and of the outbox
}

// Layout of the segment of each rank. Each area of flags begins at a page, so
// that none shares a cache line with another.
//
//	| bare flags of pairs | bare flags to count | bare flags from each rank | inbox | outbox |
//
// Collective operations have boxes in place of the inbox, and their own vectors.
const (
	Page        = 4096
	PairFlags   = 0 * Page
	WindowFlags = 1 * Page // window x 4 bytes
	rankFlags   = 2 * Page // a word per rank
)

// OnlyCalls is the memory of a rank that measures calls of the library alone.
func OnlyCalls(p *gaspi.Proc) *Memory { return &Memory{P: p} }

// Open makes the segments of all ranks, whose inboxes and outboxes have so many
// bytes. cores is how many the ranks share.
func Open(ctx context.Context, p *gaspi.Proc, boxes uint64, transport string, cores int) (*Memory, error) {
	m := &Memory{P: p, pause: pauser(p.Size(), cores, transport), boxes: boxes}
	var err error
	m.Seg, err = p.CreateSegment(ctx, segmentID, m.Outbox()+m.boxes)
	return m, err
}

// Inbox returns where in its segment a rank receives, in bytes.
func (m *Memory) Inbox() uint64 {
	return rankFlags + RoundUp(uint64(4*m.P.Size()), Page)
}

// Outbox returns where in its segment a rank sends from, in bytes.
func (m *Memory) Outbox() uint64 { return m.Inbox() + m.boxes }

// Map returns size bytes, from byte offset, of rank r's part of seg, in the mapping that this
// rank's writes to r go through. It is kept until Forget. A rank that has ended has none.
func (m *Memory) Map(seg *gaspi.Segment, r gaspi.Rank, offset, size uint64) (gaspi.Span, error) {
	span, ok := seg.Mapped(r, offset, size)
	if !ok {
		return gaspi.Span{}, m.unmapped(r)
	}
	m.keep = append(m.keep, span)
	return span, nil
}

// unmappedPatience bounds how long unmapped waits for the news of an end.
const unmappedPatience = time.Second

// unmapped is why the memory of rank r cannot be mapped. The mapping of a rank that ends may
// go before the news of its end is here.
func (m *Memory) unmapped(r gaspi.Rank) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(unmappedPatience); time.Now().Before(until); <-look.C {
		if end := m.P.Failure(r); end != nil {
			return end
		}
	}
	return fmt.Errorf("the memory of rank %d cannot be mapped, so there is no limit to compare with", r)
}

// Forget gives up all mappings of Map.
func (m *Memory) Forget() { m.keep = nil }

// RoundUp returns the least multiple of to that is at least n.
func RoundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// Notifications, one for each purpose.
const (
	NotePing  gaspi.NotificationID = 0
	NoteAck   gaspi.NotificationID = 64  // in another cache line
	NoteCount gaspi.NotificationID = 128 // window of them
	notePort  gaspi.NotificationID = 256
	NoteRelay gaspi.NotificationID = 320 // a rank's number of them
)

// segmentID is the one segment of a memory.
const segmentID gaspi.SegmentID = 0

// Buffers are the vectors of a rank. In place they are one.
type Buffers struct {
	In, Out []byte
	Fill    func(iteration int)
	Check   func(iteration int) error
}
