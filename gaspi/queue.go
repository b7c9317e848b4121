package gaspi

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A Queue carries one-sided operations. Each takes one entry, which it holds
// until the next Wait, finished or not, so that a full queue means the same on
// every transport. Operations of different queues are independent; on one queue,
// Notify comes after all earlier writes to the same rank. Operations with the own
// rank take no entry, nor do those that move nothing and notify nobody.
//
// A queue may be used by many goroutines, of which those of a Serialized one post one at a time.
// Posts made while another goroutine is in Wait belong to the next Wait.
type Queue struct {
	p        *Proc
	number   int
	traffic  *transport.Queue
	timeline *trace.Recorder // of operations; nil if they are not recorded
	plain    bool            // operations are not recorded, and several goroutines may post
	last     windows         // of the last operations with some ranks
	deleted  atomic.Bool

	counts peerCounts // of what was issued
}

// windows are what a queue remembers of segments of other ranks, by the low bits of both numbers: collectives write to a
// few ranks in turn, to memory of one segment and notifications of another.
type windows [recentRanks * recentSegments]atomic.Pointer[transport.Window]

const recentRanks, recentSegments = 8, 4

// of returns where the window on the segment of an address is kept. That holds nil, or perhaps another one.
func (all *windows) of(at Remote) *atomic.Pointer[transport.Window] {
	return &all[uint32(at.Rank)%recentRanks*recentSegments+uint32(at.Segment)%recentSegments]
}

// MustQueue is Queue for a number that the program knows to exist, such as a constant. It panics
// if there is no such queue.
func (p *Proc) MustQueue(n int) *Queue {
	q, err := p.Queue(n)
	if err != nil {
		panic(err)
	}
	return q
}

// Queue returns queue number n, from 0 to Config.Queues-1 or as CreateQueue gave it, or an error
// if there is none.
func (p *Proc) Queue(n int) (*Queue, error) {
	if q := p.queues.Get(n); q != nil {
		return q, nil
	}
	return nil, &OpError{Op: "queue", Err: fmt.Errorf("no queue %d: %d exist", n, len(p.queues.All()))}
}

// Queues are the numbers of the queues that exist, ascending.
func (p *Proc) Queues() []int {
	var numbers []int
	for _, q := range p.queues.All() {
		numbers = append(numbers, q.number)
	}
	return numbers
}

// A QueueOption changes a queue that CreateQueue makes.
type QueueOption func(*transport.Queue)

// Serialized says that goroutines post to the queue one at a time, with a happens-before relation
// between them, as MPI_THREAD_SERIALIZED does of a process. A post to memory of the same host then
// executes no atomic read-modify-write. Posts at the same time lose entries and counts.
func Serialized() QueueOption { return (*transport.Queue).Serialize }

// CreateQueue makes another queue, local to this rank and usable at once with
// every peer.
func (p *Proc) CreateQueue(opts ...QueueOption) (*Queue, error) {
	q := p.queues.Add(func(n int) *Queue {
		q := p.newQueue(n)
		for _, o := range opts {
			o(q.traffic)
		}
		q.plain = q.plain && !q.traffic.Serialized()
		return q
	})
	if q != nil {
		return q, nil
	}
	return nil, &OpError{Op: "queue_create", Err: fmt.Errorf("%w: Config.QueuesMax is %d", ErrTooMany, p.cfg.QueuesMax)}
}

// newQueue makes queue number n.
func (p *Proc) newQueue(n int) *Queue {
	return &Queue{p: p, number: n, traffic: transport.NewQueue(p.cfg.QueueDepth, n), counts: newPeerCounts(p.size), timeline: p.timeline, plain: p.timeline == nil}
}

// Delete gives the queue back. Wait on it first: deleting a queue with entries
// is an error.
func (q *Queue) Delete() error {
	if q.deleted.Load() {
		return q.error("queue_delete", ErrClosed)
	}
	if n := q.traffic.Size(); n > 0 {
		return q.error("queue_delete", fmt.Errorf("%w: %d operations have not been waited for", ErrInUse, n))
	}
	if !q.deleted.CompareAndSwap(false, true) {
		return q.error("queue_delete", ErrClosed)
	}
	q.p.retire(q)
	return nil
}

// Number is the queue's number.
func (q *Queue) Number() int { return q.number }

// Size is how many entries are taken. While others post or wait it is a hint.
func (q *Queue) Size() int { return q.traffic.Size() }

// Depth is how many entries the queue has.
func (q *Queue) Depth() int { return q.p.cfg.QueueDepth }

// Wait blocks until every operation that was issued on the queue before the call
// is complete here: sources of writes may be changed, destinations of reads are
// filled. It says nothing about arrival at the peers; see Flush. It gives the
// entries back. Operations that others post meanwhile do not prolong it.
//
// Operations with ranks whose memory this rank cannot address may fail after they
// were issued: their peer died, or had withdrawn the segment. Wait then returns the
// first such error, and the entries are given back all the same. When ctx ends
// first, nothing is given back, and another Wait goes on.
func (q *Queue) Wait(ctx context.Context) error {
	if err := q.ready(); err != nil {
		return q.error("wait", err)
	}
	q.p.stats.queueWaits.Add(1)
	issued := q.traffic.Issued()
	if !q.traffic.Idle() {
		begun := q.timeline.Begin()
		err := q.waitSlow(ctx, issued)
		q.recordCall(trace.QueueWait, begun, q.p.rank)
		if isBare(err) {
			return err
		} else if err != nil {
			return q.error("wait", err)
		}
	}
	q.traffic.Settle(issued)
	return nil
}

// Post calls post, which posts to the queue, again until it returns another error than ErrQueueFull,
// and returns that. Between two calls it does what Wait does, so that it blocks until there is room,
// with the errors of Wait. A list that an empty queue has no room for is ErrTooLarge.
func (q *Queue) Post(ctx context.Context, post func() error) error {
	for {
		issued, empty := q.traffic.Issued(), q.Size() == 0
		err := post()
		if !errors.Is(err, ErrQueueFull) {
			return err
		}
		if empty && q.traffic.Issued() == issued { // nobody has posted meanwhile
			return q.error("post", fmt.Errorf("%w: it needs more entries than an empty queue has; Config.QueueDepth is %d, so post it in parts", ErrTooLarge, q.Depth()))
		}
		if err := q.Wait(ctx); err != nil {
			return err
		}
	}
}

// waitSlow is Wait where something is under way or has failed.
func (q *Queue) waitSlow(ctx context.Context, issued uint64) error {
	begun := time.Now()
	err := q.traffic.Wait(ctx, q.p.wire.Wait, q.p.ended)
	q.p.stats.queueWait.Add(int64(time.Since(begun)))
	if err != nil {
		return err
	}
	q.traffic.Settle(issued)
	err = q.traffic.Failure()
	if gone, ok := errors.AsType[*RankError](err); ok {
		return q.p.peers.Found(gone.Rank, err)
	}
	return err
}

// Flush blocks until every write and notification that was issued on the queue
// before the call to rank r has arrived in its memory, so that any rank that is
// told so, by whatever means, sees them. The standard has no such call.
func (q *Queue) Flush(ctx context.Context, r Rank) error {
	if err := q.ready(); err != nil {
		return q.error("flush", err)
	}
	begun := q.timeline.Begin()
	link, err := q.p.link(r)
	if err == nil {
		err = q.p.peers.Found(r, link.Flush(ctx, q.traffic))
	}
	q.recordCall(trace.Flush, begun, r)
	if err != nil {
		return &OpError{Op: "flush", At: fmt.Sprintf("queue %d to rank %d", q.number, r), Err: err}
	}
	return nil
}

// Purge gives all entries back without waiting for their operations, whose fate
// is then unknown: no later Wait tells of it, but where a peer refuses one after the call.
// It is meant for after a failure.
func (q *Queue) Purge() {
	q.traffic.Settle(q.traffic.Issued())
	q.traffic.Drop()
}

func (q *Queue) ready() error {
	if q.deleted.Load() || q.p.closed.Load() {
		return ErrClosed
	}
	return nil
}

func (q *Queue) error(op string, err error) error {
	return &OpError{Op: op, At: fmt.Sprintf("queue %d", q.number), Err: err}
}
