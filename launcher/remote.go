package launcher

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// A remote is a site on another host: it passes on what its agent says, and
// tells the agent what the job wants.
type remote struct {
	place
	job  *job
	conn atomic.Pointer[talk.Conn] // nil until the agent has connected

	ready   chan error    // holds the first word about the agent: it is there, or why not
	started chan error    // holds what came of the start
	over    chan struct{} // closed when nothing more will come from the agent
	done    chan struct{} // closed when the agent has nothing left to end
	agent   ready         // valid after ready

	receiving sync.WaitGroup
	flows     []*talk.Inflow // index is the stream
	input     *talk.Credit   // for what rank 0 reads

	sending sync.Mutex     // held while the order leaves, so that no signal overtakes it
	ordered bool           // the order has left; guarded by sending
	refused syscall.Signal // the ranks were told to end before that; guarded by sending

	mu      sync.Mutex
	pids    []int  // index is the place among the ranks; 0: not known
	gone    []bool // likewise: its end was reported
	began   bool   // the start has succeeded or failed
	closing bool   // the end of the connection is no loss
}

func newRemote(j *job, p place) *remote {
	r := &remote{
		place: p, job: j,
		ready: make(chan error, 1), started: make(chan error, 1),
		over: make(chan struct{}), done: make(chan struct{}),
		input: talk.NewCredit(),
		pids:  make([]int, p.ranks), gone: make([]bool, p.ranks),
	}
	for range 2 * p.ranks {
		r.flows = append(r.flows, talk.NewInflow())
	}
	return r
}

// attach takes the connection of the agent, which has proven who it is.
func (r *remote) attach(conn net.Conn) {
	c := talk.New(conn, r.job.cfg.Heartbeat)
	if !r.conn.CompareAndSwap(nil, c) {
		c.Close() // the doorway lets each agent in once; this one came at the same time
		return
	}
	r.receiving.Go(r.receiveLoop)
}

// connected reports whether the agent has come.
func (r *remote) connected() bool { return r.conn.Load() != nil }

// receiveLoop handles what the agent says until the connection ends.
func (r *remote) receiveLoop() {
	defer close(r.over)
	conn := r.conn.Load()
	greeted := false
	for {
		f, err := conn.Receive()
		if err == nil && !greeted {
			greeted = true
			err = r.greet(f)
		} else if err == nil {
			err = r.handle(f)
		}
		if err == nil {
			continue
		}
		conn.Break()
		for _, flow := range r.flows {
			flow.Close()
		}
		r.input.Close()
		r.lost(err)
		return
	}
}

func (r *remote) greet(f talk.Frame) (err error) {
	if f.Kind != frameReady {
		return fmt.Errorf("its first frame is of kind %d", f.Kind)
	}
	r.agent, err = decode[ready](f)
	if err == nil {
		r.ready <- nil
	}
	return err
}

// handle passes on one frame.
func (r *remote) handle(f talk.Frame) error {
	switch f.Kind {
	case frameStarted:
		s, err := decode[started](f)
		if err != nil {
			return err
		}
		return r.hasStarted(s)
	case frameEnded:
		e, err := decode[endedFrame](f)
		if err != nil {
			return err
		}
		return r.ended(e)
	case frameStopped:
		e, err := decode[stoppedFrame](f)
		if err == nil {
			r.job.report(rankStopped{rank: e.Rank, pid: e.PID, sig: e.Sig, limit: e.Limit})
		}
		return err
	case frameOutput:
		return r.output(f)
	case frameInputDone:
		if f.Number < 0 {
			r.input.Close()
		}
		r.input.Add(int(f.Number))
	case frameFinished:
		select {
		case <-r.done:
			return errors.New("it has finished twice")
		default:
			close(r.done)
		}
	case frameLog:
		r.job.cfg.Log("host " + r.name + ": " + strings.ToValidUTF8(string(f.Data), "?"))
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

// output hands on bytes of a stream, or its end, without waiting.
func (r *remote) output(f talk.Frame) error {
	if f.Number < 0 || int(f.Number) >= len(r.flows) {
		return fmt.Errorf("output of stream %d of %d", f.Number, len(r.flows))
	}
	flow := r.flows[f.Number]
	if len(f.Data) == 0 {
		flow.Close()
	} else if !flow.Put(f.Data) {
		return fmt.Errorf("more output of stream %d than there is room for", f.Number)
	}
	return nil
}

func (r *remote) hasStarted(s started) error {
	if len(s.PIDs) != r.ranks {
		return fmt.Errorf("it has started %d ranks, not %d", len(s.PIDs), r.ranks)
	}
	r.mu.Lock()
	again := r.began
	r.began, r.pids = true, s.PIDs
	r.mu.Unlock()
	if again {
		return errors.New("it has started its ranks twice")
	}
	r.started <- r.problem(s)
	return nil
}

// problem is the error about ranks that could not be started.
func (r *remote) problem(s started) error {
	if s.Problem == "" {
		return nil
	}
	sentence := fmt.Sprintf("host %s: %s", r.name, s.Problem)
	if (s.Because == noProgram || s.Because == noDirectory) && !r.job.ships() {
		sentence += "; the program and its directory must be there too, or be copied with --stage"
	}
	if s.Because <= otherObstacle || int(s.Because) >= len(obstacles) {
		return errors.New(sentence)
	}
	return &startError{obstacles[s.Because], sentence}
}

func (r *remote) ended(e endedFrame) error {
	i := int(e.Rank - r.first)
	if i < 0 || i >= r.ranks {
		return fmt.Errorf("rank %d is not one of its ranks", e.Rank)
	}
	r.mu.Lock()
	again := r.gone[i]
	r.gone[i] = true
	r.mu.Unlock()
	if again {
		return fmt.Errorf("rank %d has ended twice", e.Rank)
	}
	event := rankEnded{rank: e.Rank, pid: e.PID, exit: e.Exit, why: e.Why, after: e.After}
	if e.Problem != "" {
		event.err = errors.New(e.Problem)
	}
	r.job.report(event)
	return nil
}

// lost draws the conclusions from the end of the connection.
func (r *remote) lost(err error) {
	reason := "host " + r.name + " is lost: " + r.explain(err)
	select {
	case r.ready <- errors.New(reason):
	default:
	}
	r.mu.Lock()
	began, closing := r.began, r.closing
	r.began = true
	event := siteLost{reason: reason}
	for i, pid := range r.pids {
		if !r.gone[i] {
			e := rankEnded{rank: r.first + Rank(i), pid: pid}
			if began {
				e.lost, e.after = reason, time.Since(r.job.begun)
			}
			event.ranks = append(event.ranks, e)
			r.gone[i] = true
		}
	}
	r.mu.Unlock()
	if closing {
		return
	}
	r.job.report(event)
	if !began {
		r.started <- errors.New(reason)
	}
}

// explain says what the end of the connection looks like from here.
func (r *remote) explain(err error) string {
	switch {
	case errors.Is(err, talk.ErrSilent):
		return "no sign of life for " + round(r.job.cfg.Heartbeat)
	case talk.Ended(err), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection to its agent has ended"
	}
	return err.Error()
}

// signal is that of a site.
func (r *remote) signal(sig syscall.Signal) {
	r.sending.Lock()
	defer r.sending.Unlock()
	if !r.ordered {
		if sig == syscall.SIGKILL || endSignals[sig] != "" {
			r.refused = sig
		}
		return // there is nobody to get it
	}
	conn := r.conn.Load()
	conn.Send(talk.Frame{Kind: frameSignal, Number: int32(sig)})
	if sig == syscall.SIGTSTP {
		conn.Flush(time.Second) // this process is about to stop
	}
}

// kill is that of a site.
func (r *remote) kill(n Rank) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	if !r.ordered {
		return errors.New("its host has not begun to start ranks yet")
	}
	r.conn.Load().Send(talk.Frame{Kind: frameKill, Number: int32(n)})
	return nil
}

// finish is that of a site.
func (r *remote) finish(hurry <-chan struct{}) {
	r.sending.Lock()
	ordered := r.ordered
	r.sending.Unlock()
	if !ordered {
		for _, flow := range r.flows {
			flow.Close()
		}
		return
	}
	conn := r.conn.Load()
	conn.Send(talk.Frame{Kind: frameFinish})
	select {
	case <-r.done:
		return
	case <-r.over:
		return
	case <-hurry:
		conn.Send(talk.Frame{Kind: frameHurry})
	}
	select {
	case <-r.done:
	case <-r.over:
	case <-time.After(leftoverPatience):
	}
}

// close is that of a site.
func (r *remote) close() {
	conn := r.conn.Load()
	if conn == nil {
		return
	}
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	conn.Send(talk.Frame{Kind: frameOver})
	conn.Close()
	r.receiving.Wait()
}
