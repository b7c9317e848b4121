package shm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// An owner serves the requests of peers for this rank's bound segments. A rank
// makes one when it exposes the first such segment. It has one goroutine, which
// sleeps while nothing is asked and waits for nobody while it works, so two
// ranks that write to each other cannot block each other.
//
// Nothing that a request says is believed: a peer may be broken, or of another
// mind about which segments there are.
type owner struct {
	card  *card
	ranks int
	file  *segment.Segment // the lane file; its array has the requests

	mu    sync.Mutex
	bound map[segment.ID]exposure // guarded by mu, held while memory is copied

	stations []*station // used by serveLoop alone; index is the station's id; nil until used
	closing  atomic.Bool
	done     chan struct{} // closed when serveLoop has ended
}

// An exposure is a bound segment that peers may reach.
type exposure struct {
	seg        *segment.Segment
	generation uint64
}

// newOwner makes the lane file and starts to serve. The goroutine waits as wait
// says, except that it never spins: it would take a core from this rank's own
// program, which does not wait for it.
func newOwner(c *card, wait *notify.WaitPolicy) (*owner, error) {
	gently := *wait
	gently.Spin = 0
	size, words := laneSize(c.ranks)
	file, err := segment.Create(size, words, &gently)
	if err != nil {
		return nil, fmt.Errorf("requests for bound segments: %w", err)
	}
	o := &owner{
		card: c, ranks: c.ranks, file: file,
		bound:    make(map[segment.ID]exposure),
		stations: make([]*station, closedWord(c.ranks)),
		done:     make(chan struct{}),
	}
	c.publishLanes(file.File())
	go o.serveLoop()
	return o, nil
}

// add lets peers that are granted id reach s.
func (o *owner) add(id segment.ID, generation uint64, s *segment.Segment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bound[id] = exposure{seg: s, generation: generation}
}

// remove ends what add began. When it returns, no peer touches the memory any
// more, so its owner may use it for something else.
func (o *owner) remove(id segment.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.bound, id)
}

// close ends the service. Requests that peers have made by now are refused, and
// those who make one later see that the owner has closed.
func (o *owner) close() {
	o.mu.Lock()
	clear(o.bound)
	o.mu.Unlock()
	o.file.Notifications().Set(closedWord(o.ranks), 1)
	o.closing.Store(true)
	o.file.Notifications().Wake()
	<-o.done
	// The file is not discarded, as Segment.Close would: the last replies are in
	// it. Its pages go with the last mapping.
	_ = sys.CloseFile(o.file.File())
}

// serveLoop is the owner's goroutine. The array's search goes round, so no peer
// keeps another waiting for more than one request of each.
func (o *owner) serveLoop() {
	defer close(o.done)
	requests := o.file.Notifications()
	some := notify.Some(0, uint32(closedWord(o.ranks)))
	for !o.closing.Load() {
		id, err := requests.Wait(context.Background(), some, o.ended, nil)
		if err != nil {
			break
		}
		o.serve(id)
	}
	// Once round, and not until there is none: a peer that does not stop asking
	// must not keep this rank from ending.
	for id := range closedWord(o.ranks) {
		o.serve(id)
	}
	runtime.KeepAlive(o.file)
}

// ended is what ends the wait for requests: the array stays open for the last round.
func (o *owner) ended() error {
	if o.closing.Load() {
		return base.ErrClosed
	}
	return nil
}

// serve answers the request at station id, if its client has not taken it back.
func (o *owner) serve(id notify.ID) {
	sent, err := o.file.Notifications().Reset(id)
	if err != nil || sent == 0 {
		return
	}
	s := o.stations[id]
	if s == nil {
		s = stationAt(o.file, id, nil)
		o.stations[id] = s
	}
	value, err := o.do(clientOf(id), readRequest(s), s.bounce)
	s.answer[0].Store(uint64(statusOf(err)))
	s.answer[1].Store(value)
	s.reply.Set(0, sent)
}

var errMalformed = errors.New("malformed request")

// do does what client asks for and returns the old value of an atomic.
func (o *owner) do(client base.Rank, r memoryRequest, bounce []byte) (uint64, error) {
	if r.op < opPut || r.op >= opEnd || r.length > uint64(len(bounce)) {
		return 0, errMalformed
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	x, ok := o.bound[r.segment]
	if !ok || x.generation != r.generation || !o.card.read(r.segment, client).granted {
		return 0, base.ErrNoSegment
	}
	if r.op >= opAtomic {
		word, err := x.seg.Word(r.offset)
		if err != nil {
			return 0, err
		}
		return transport.Apply(word, transport.AtomicOp(r.op-opAtomic), r.operand, r.compare), nil
	}
	mem, err := x.seg.Bytes(r.offset, r.length)
	if err != nil {
		return 0, err
	}
	if r.op == opPut {
		transport.CopyForPeer(mem, bounce[:r.length])
	} else {
		transport.CopyForPeer(bounce[:r.length], mem)
	}
	return 0, nil
}

func statusOf(err error) status {
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, base.ErrNoSegment):
		return statusNoSegment
	case errors.Is(err, base.ErrOutOfRange):
		return statusOutOfRange
	case errors.Is(err, base.ErrUnaligned):
		return statusUnaligned
	default:
		return statusMalformed
	}
}
