package limit

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A ring is the limit of collective operations where ranks do not share memory, except
// of an alltoall, which has a mesh: bare TCP connections from each rank to the next,
// over which all of them send and receive at once as many bytes as the operation must
// move, without computing and without waiting for what is sent on to arrive first.
type ring struct {
	b          *Memory
	next, prev int // descriptors; the same between two ranks
	out, in    socket.Vector
	src, dst   []byte // as long as the vector of a rank, gone through again and again
	send, take int    // bytes of one operation that this rank sends and receives
}

// A portion is how many bytes one call of the system sends and takes at most. Taken in small
// portions, what was copied is still in the cache when it is copied again; sent in large ones, a
// stream is cut less often.
type portion struct{ send, take int }

const (
	leastPortion = 256 << 10 // a fourth of it made an exchange of 1 MiB take 1.8 times as long
	mostPortion  = 8 << 20
)

// portions has that of each way to move streams.
var portions = []portion{{leastPortion, leastPortion}, {mostPortion, leastPortion}, {mostPortion, mostPortion}}

// portionsOf returns the portions in which streams of so many bytes differ.
func portionsOf(bytes int) []portion {
	if bytes <= leastPortion {
		return portions[:1]
	}
	return portions
}

// Ring is the ways to move what a call must over sockets, and what fills and checks
// their buffers. There are none for exchanges with several partners, and where only some
// ranks contribute.
func (b *Memory) Ring(ctx context.Context, s *CallShape) ([]BareCall, Buffers, error) {
	r := &ring{b: b}
	place := (int(b.P.Rank()) - s.Root + s.Ranks) % s.Ranks
	r.send, r.take = s.around(place)
	if s.Ranks == 1 || !b.Wired() || r.send < 0 || s.Engaged != nil {
		return nil, Buffers{}, nil
	}
	if err := r.connect(ctx); err != nil {
		return nil, Buffers{}, fmt.Errorf("the connections to compare with: %w", err)
	}
	length := max(s.In, s.Out, 1)
	r.src, r.dst = written(length), written(length)
	check := Buffers{
		In: r.src, Out: r.dst,
		Fill: func(iteration int) { Stamp(r.src, uint32(iteration)) },
		Check: func(iteration int) error {
			if r.take < length {
				return nil // its end is not there
			}
			return Verify(r.dst, uint32(iteration))
		},
	}
	var ways []BareCall
	for _, p := range portionsOf(length) {
		ways = append(ways, func(ctx context.Context) error { return r.exchange(ctx, p) })
	}
	return ways, check, nil
}

// written returns memory that has been written to: what has not is one page of zeros, which is quicker to send.
func written(bytes int) []byte {
	mem := make([]byte, bytes)
	for i := range mem {
		mem[i] = byte(i)
	}
	return mem
}

// around is how many bytes the rank at a place behind the root must send to the
// next one and receive from the one before, if everything goes around a ring;
// negative if that is no bound.
func (s *CallShape) around(place int) (send, take int) {
	whole := max(s.In, s.Out)
	others := whole / s.Ranks * (s.Ranks - 1)
	along := func(from, to bool) (int, int) { // from everywhere but there, to everywhere but there
		return pick(!from, s.kept), pick(!to, s.kept)
	}
	switch s.Op {
	case schedule.AllReduce:
		n := 2 * whole * (s.Ranks - 1) / s.Ranks
		return n, n
	case schedule.ReduceScatter, schedule.AllGather:
		return others, others
	case schedule.Barrier:
		return 1, 1
	case schedule.Broadcast, schedule.Scan, schedule.ExScan:
		return along(place == s.Ranks-1, place == 0)
	case schedule.Reduce:
		return along(place == 0, place == 1)
	case schedule.Gather:
		return pick(place == s.Ranks-1, others), pick(place == 0, others)
	case schedule.Scatter:
		return pick(place == 0, others), pick(place == 1, others)
	default:
		return -1, -1
	}
}

// pick is n if it applies, else 0.
func pick(applies bool, n int) int {
	if applies {
		return n
	}
	return 0
}

// connect makes a connection to the next rank and has the one before make one. They
// meet by a notification, whose value is the port that the next rank listens on. Two
// ranks share one connection.
func (r *ring) connect(ctx context.Context) error {
	p := r.b.P
	n := gaspi.Rank(p.Size())
	listens, dials := n > 2 || p.Rank() == 1, n > 2 || p.Rank() == 0
	var err error
	var l *net.TCPListener
	if listens {
		if l, err = r.b.invite(ctx, (p.Rank()+n-1)%n); err != nil {
			return err
		}
		defer l.Close()
	}
	var to, from *net.TCPConn
	if dials {
		if to, err = r.b.dial(ctx); err != nil {
			return err
		}
		if r.next, err = take(to); err != nil {
			return err
		}
		r.prev = r.next
		closeLate(r, r.next)
	}
	if listens {
		if from, err = l.AcceptTCP(); err != nil {
			return err
		}
		if r.prev, err = take(from); err != nil {
			return err
		}
		closeLate(r, r.prev)
	}
	if !dials {
		r.next = r.prev
	}
	return nil
}

// closeLate closes a descriptor when nothing leads to its owner any more.
func closeLate[T any](owner *T, fd int) {
	runtime.AddCleanup(owner, func(fd int) { _ = sys.CloseFile(fd) }, fd)
}

// exchange sends and receives what one operation must move.
func (r *ring) exchange(ctx context.Context, p portion) error {
	for sent, taken, looks := 0, 0, 1; sent < r.send || taken < r.take; looks++ {
		n, err := step(&r.out, r.next, r.src, sent, r.send, p.send, (*socket.Vector).Send)
		if err != nil {
			return err
		}
		m, err := step(&r.in, r.prev, r.dst, taken, r.take, p.take, (*socket.Vector).Receive)
		if err != nil {
			return err
		}
		if sent, taken = sent+n, taken+m; n+m == 0 {
			r.b.pause()
		}
		if err := checkAt(ctx, looks); err != nil {
			return err
		}
	}
	return nil
}

// step moves at most so many bytes of what is left of a stream through buf, if the system lets it.
func step(v *socket.Vector, fd int, buf []byte, done, all, most int, call callOfSystem) (int, error) {
	if done == all {
		return 0, nil
	}
	at := done % len(buf)
	v.Reset()
	v.Add(buf[at : at+min(most, len(buf)-at, all-done)])
	n, errno := call(v, fd)
	switch {
	case socket.Again(errno):
		return 0, nil
	case errno != 0:
		return 0, fmt.Errorf("the connection to compare with: %w", errno)
	case n == 0:
		return 0, fmt.Errorf("the connection to compare with: %w", syscall.ECONNRESET)
	}
	return n, nil
}
