// Package segment implements memory that other ranks may write: a notification
// array and page-aligned data, in one memory file or on the heap.
//
// It knows neither ranks nor queues nor wires. Package gaspi creates segments
// and says who may reach them; transports move bytes between them.
package segment

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/notify"
)

// ID names a segment of a rank. Ranks may use one id for segments of different
// sizes.
type ID uint32

const (
	pageSize = 4096
	// hugeAt is the size from which huge pages are asked for: below it one huge
	// page would waste more than the saved address translations give.
	hugeAt = 4 << 20
	// sizeMax keeps every offset sum within an int, with room to spare.
	sizeMax = 1 << 46
)

// A Segment is memory with a notification array. Its memory stays mapped while
// the Segment or any Span of it is reachable, also after Close, so that a
// straggling operation hits dead memory and never someone else's.
type Segment struct {
	data   []byte
	array  *notify.Array
	fd     int  // memory file; -1 on the heap and for memory of a peer
	bound  bool // data is memory of the caller's, not of mem
	alone  bool // no other process maps mem: of Reserve
	mem    []byte
	closed atomic.Bool
}

// Layout of a segment's memory file, mapped from offset 0:
//
//	| wake word, padded to 64 bytes | notifications: n x 4 bytes | pad to page | data: size bytes | pad to page |
func dataOffset(notifications uint32) uint64 {
	return roundUp(notify.Bytes(notifications), pageSize)
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// checkSize returns an error for sizes no segment can have.
func checkSize(size uint64) error {
	if size == 0 {
		return fmt.Errorf("segment size is 0 bytes; it must be at least 1")
	}
	if size > sizeMax {
		return fmt.Errorf("segment size is %d bytes; at most %d are possible", size, uint64(sizeMax))
	}
	return nil
}

// Create makes a segment of size bytes in a new memory file, zeroed, with a
// array of so many notifications. The array waits as wait says.
func Create(size uint64, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	total := dataOffset(notifications) + roundUp(size, pageSize)
	fd, err := memory.Create("gaspi", int64(total))
	if err != nil {
		return nil, err
	}
	s, err := mapFile(fd, size, notifications, wait)
	if err != nil {
		sys.CloseFile(fd)
		return nil, err
	}
	s.fd = fd
	return s, nil
}

// Open maps the segment behind the memory file fd, made by Create in another
// process with the same size and notifications. It takes fd and closes it. The
// array of the result can be posted to, not waited on.
func Open(fd int, size uint64, notifications uint32) (*Segment, error) {
	defer sys.CloseFile(fd)
	if err := checkSize(size); err != nil {
		return nil, err
	}
	have, err := sys.FileSize(fd)
	if err != nil {
		return nil, err
	}
	if want := dataOffset(notifications) + size; uint64(have) < want {
		return nil, fmt.Errorf("memory file has %d bytes, the segment needs %d", have, want)
	}
	return mapFile(fd, size, notifications, nil)
}

func mapFile(fd int, size uint64, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	at := dataOffset(notifications)
	mem, err := memory.Map(fd, int(at+size))
	if err != nil {
		return nil, err
	}
	if size >= hugeAt {
		memory.AdviseHuge(mem[at:])
	}
	s := &Segment{
		data:  mem[at : at+size : at+size],
		array: notify.NewArray(mem, notifications, wait),
		fd:    -1,
		mem:   mem,
	}
	runtime.AddCleanup(s, unmap, mem)
	return s, nil
}

func unmap(mem []byte) { _ = memory.Unmap(mem) }

// New makes a segment of size bytes on the heap, zeroed, for ranks of one
// process.
func New(size uint64, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	data, err := allocate(size)
	if err != nil {
		return nil, err
	}
	return Bind(data, notifications, wait)
}

// refusable is the least number of bytes for which allocate asks the system first.
const refusable = 1 << 30

// allocate returns n zeroed bytes on the heap, which start at a multiple of 8. It fails where the system
// refuses as many: the allocator of the language would end the process.
func allocate(n uint64) ([]byte, error) {
	if n >= refusable {
		room, err := memory.MapZeros(int(n))
		if err != nil {
			return nil, fmt.Errorf("memory of the process: %w", err)
		}
		if err := memory.Unmap(room); err != nil {
			return nil, fmt.Errorf("memory of the process: %w", err)
		}
	}
	return heap(n), nil
}

// Bind makes a segment of memory that the caller owns and keeps until Close;
// only the array is allocated. The memory must not be empty. Where it starts at
// a multiple of 8 bytes, all of it can be used for 64-bit atomics.
func Bind(data []byte, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	if err := checkSize(uint64(len(data))); err != nil {
		return nil, err
	}
	array, err := allocate(notify.Bytes(notifications))
	if err != nil {
		return nil, err
	}
	return &Segment{data: data[:len(data):len(data)], array: notify.NewArray(array, notifications, wait), fd: -1, bound: true}, nil
}

// BoundFileSize is what Open is told for the size of the file that BindShared
// makes: one byte of data, because there is no segment without, that nobody uses.
const BoundFileSize = 1

// BindShared is Bind with the array in a memory file, so that other processes
// can post to it although they cannot map the data.
func BindShared(data []byte, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	if err := checkSize(uint64(len(data))); err != nil {
		return nil, err
	}
	s, err := Create(BoundFileSize, notifications, wait)
	if err != nil {
		return nil, err
	}
	s.data = data[:len(data):len(data)]
	s.bound = true
	return s, nil
}

// Size is the number of bytes of data.
func (s *Segment) Size() uint64 { return uint64(len(s.data)) }

// Notifications returns the notification array.
func (s *Segment) Notifications() *notify.Array { return s.array }

// File is the descriptor of the memory file, which stays the segment's; -1 if
// there is none.
func (s *Segment) File() int { return s.fd }

// Bound reports whether the data is not in the memory file, so that other
// processes cannot map it: after Bind, BindShared, New and Reserve.
func (s *Segment) Bound() bool { return s.bound }

// Closed reports whether Close was called.
func (s *Segment) Closed() bool { return s.closed.Load() }

// Close ends the use of the segment: waits on its array end with base.ErrClosed,
// its memory file is closed and its pages go back to the system at once. Spans
// and views of it must not be used any more. Close is idempotent.
func (s *Segment) Close() error { return s.close(true) }

// Leave is Close, but the pages go back to the system when the last process that has mapped them has ended or
// unmapped them: who reads there meanwhile reads what the segment held.
func (s *Segment) Leave() error { return s.close(false) }

func (s *Segment) close(discard bool) error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	s.array.Close()
	if discard && s.alone {
		memory.DiscardZeros(s.mem)
	}
	if s.fd < 0 {
		return nil
	}
	if discard {
		_ = memory.Discard(s.fd, int64(len(s.mem)))
	}
	return sys.CloseFile(s.fd)
}

// Bytes is the range [offset, offset+n) of the data, aliased, not copied.
func (s *Segment) Bytes(offset, n uint64) ([]byte, error) {
	if err := s.check(offset, n); err != nil {
		return nil, err
	}
	return s.data[offset : offset+n : offset+n], nil
}

// check returns an error unless [offset, offset+n) lies in the data. The sum
// is not formed, so that it cannot overflow.
func (s *Segment) check(offset, n uint64) error {
	if size := uint64(len(s.data)); offset > size || n > size-offset {
		return outOfRange(offset, n, size)
	}
	return nil
}

func outOfRange(offset, n, size uint64) error {
	return fmt.Errorf("%w: bytes [%d:+%d] of %d", base.ErrOutOfRange, offset, n, size)
}
