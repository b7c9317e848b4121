package agent

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/control"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// A Site is another host as its launcher sees it: it passes on what the agent there says, and
// tells the agent what the job wants.
type Site struct {
	hosts.Place
	launcher Launcher
	node     *NodeConn                 // of a node that has started itself; else nil
	conn     atomic.Pointer[talk.Conn] // nil until the agent has connected

	ready   chan error    // holds the first word about the agent: it is there, or why not
	started chan error    // holds what came of the start
	over    chan struct{} // closed when nothing more will come from the agent
	done    chan struct{} // closed when the agent has nothing left to end
	agent   Ready         // valid after ready

	receiving sync.WaitGroup
	flows     []*talk.Inflow // index is the stream
	input     *talk.Credit   // for what rank 0 reads

	sending sync.Mutex     // held while the order leaves, so that no signal overtakes it
	ordered bool           // the order has left; guarded by sending
	refused syscall.Signal // the ranks were told to end before that; guarded by sending

	looks     *looks
	questions *questions

	mu      sync.Mutex
	pids    []int  // index is the place among the ranks; 0: not known
	gone    []bool // likewise: its end was reported
	began   bool   // the start has succeeded or failed
	closing bool   // the end of the connection is no loss
}

// A Launcher is what a Site needs of the process that starts the job.
type Launcher struct {
	Silence time.Duration // how long an agent may be silent; 0 for ever
	Measure bool          // ranks were asked to measure connections and processors
	Program []byte        // that is copied to other hosts; nil if it is not
	Output  *stdio.Forwarder
	Input   *stdio.Input

	Order   func(s *Site) (Order, error) // says what the agent of a site that has come is to do
	Elapsed func() time.Duration         // since the start of the first rank
	End     func() JobEnd                // how the job has ended
	Report  func(event any)              // hears the events of ranks, policy.SiteLost and policy.NodeDemands
	Log     func(line string)
}

// NewSite returns the site of a place where no rank is started. node is the connection of a node that has
// joined; nil means that Attach will be called when an agent has come.
func NewSite(l Launcher, p hosts.Place, node *NodeConn) *Site {
	r := &Site{
		Place: p, launcher: l, node: node,
		ready: make(chan error, 1), started: make(chan error, 1),
		over: make(chan struct{}), done: make(chan struct{}),
		input: talk.NewCredit(), looks: newLooks(p.Ranks), questions: newQuestions(),
		pids: make([]int, p.Ranks), gone: make([]bool, p.Ranks),
	}
	if node != nil {
		r.attachNode()
		return r
	}
	for range 2 * p.Ranks {
		r.flows = append(r.flows, talk.NewInflow())
	}
	return r
}

// Attach takes the connection of the agent, which has proven who it is.
func (r *Site) Attach(conn net.Conn) {
	c := talk.New(conn, r.launcher.Silence)
	if !r.conn.CompareAndSwap(nil, c) {
		c.Close() // package listener lets each agent in once; this one came at the same time
		return
	}
	r.receiving.Go(func() { r.receiveLoop(c.Receive, false) })
}

// attachNode takes the connection of a node that has joined. It shows the output of its
// ranks itself.
func (r *Site) attachNode() {
	node := r.node
	r.conn.Store(node.conn)
	r.agent = node.ready
	r.ready <- nil
	waiting := true // for what came before the start
	receive := func() (talk.Frame, error) {
		if waiting {
			waiting = false
			first := <-node.next
			return first.frame, first.err
		}
		return node.conn.Receive()
	}
	r.receiving.Go(func() { r.receiveLoop(receive, true) })
}

// Arrived holds the first word about the agent: nil if it has come, or why not.
func (r *Site) Arrived() <-chan error { return r.ready }

// About returns what the agent has said of itself, valid when it has arrived.
func (r *Site) About() Ready { return r.agent }

// title is what a user calls the host.
func (r *Site) title() string {
	if r.node != nil {
		return r.Name
	}
	return "host " + r.Name
}

// Connected reports whether the agent has come.
func (r *Site) Connected() bool { return r.conn.Load() != nil }

// receiveLoop handles what the agent says until the connection ends.
func (r *Site) receiveLoop(receive func() (talk.Frame, error), greeted bool) {
	defer close(r.over)
	conn := r.conn.Load()
	for {
		f, err := receive()
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

func (r *Site) greet(f talk.Frame) (err error) {
	if r.agent, err = firstWord(f); err == nil {
		r.ready <- nil
	}
	return err
}

// handle passes on one frame.
func (r *Site) handle(f talk.Frame) error {
	switch f.Kind {
	case frameStarted:
		return taken(f, r.hasStarted)
	case frameEnded:
		return taken(f, r.ended)
	case frameStopped:
		return taken(f, func(e supervise.RankStopped) error {
			r.launcher.Report(e)
			return nil
		})
	case frameDebugged:
		return taken(f, func(e supervise.RankDebugged) error {
			e.Attach = "on " + r.title() + ", " + e.Attach
			r.launcher.Report(e)
			return nil
		})
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
	case frameRows:
		return r.told(f)
	case framePong, frameRing:
		r.questions.answer(f)
	case frameLog:
		r.launcher.Log(r.title() + ": " + strings.ToValidUTF8(string(f.Data), "?"))
	case frameDemand:
		return taken(f, func(d Demand) error {
			r.launcher.Report(policy.NodeDemands{Title: r.title(), Signal: syscall.Signal(d.Signal), ExitCode: d.Code, Reason: d.What})
			return nil
		})
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

// taken hands what encode has put into a frame to take.
func taken[T any](f talk.Frame, take func(T) error) error {
	v, err := decode[T](f)
	if err != nil {
		return err
	}
	return take(v)
}

// output hands on bytes of a stream, or its end, without waiting.
func (r *Site) output(f talk.Frame) error {
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

func (r *Site) hasStarted(s started) error {
	if len(s.PIDs) != r.Ranks {
		return fmt.Errorf("it has started %d ranks, not %d", len(s.PIDs), r.Ranks)
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
func (r *Site) problem(s started) error {
	if s.Problem == "" {
		return nil
	}
	sentence := r.title() + ": " + s.Problem
	if r.node == nil && (s.Because == noProgram || s.Because == noDirectory) && r.launcher.Program == nil {
		sentence += "; the program and its directory must be there too, or be copied with --stage"
	}
	if s.Because <= otherObstacle || int(s.Because) >= len(obstacles) {
		return errors.New(sentence)
	}
	return &supervise.StartError{Kind: obstacles[s.Because], Sentence: sentence}
}

// Begun returns the number of ranks of the host that are known to have been started.
func (r *Site) Begun() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range r.pids {
		if pid != 0 {
			n++
		}
	}
	return n
}

func (r *Site) ended(e supervise.RankEnded) error {
	i := int(e.Rank - r.First)
	if i < 0 || i >= r.Ranks {
		return fmt.Errorf("rank %d is not one of its ranks", e.Rank)
	}
	r.mu.Lock()
	again := r.gone[i]
	r.gone[i] = true
	r.mu.Unlock()
	if again {
		return fmt.Errorf("rank %d has ended twice", e.Rank)
	}
	e.Lost = "" // which is for this side to say
	r.launcher.Report(e)
	return nil
}

// lost draws the conclusions from the end of the connection.
func (r *Site) lost(err error) {
	reason := r.title() + " is lost: " + r.explain(err)
	select {
	case r.ready <- errors.New(reason):
	default:
	}
	r.mu.Lock()
	began, closing := r.began, r.closing
	r.began = true
	event := policy.SiteLost{Reason: reason}
	for i, pid := range r.pids {
		if !r.gone[i] {
			e := supervise.RankEnded{Rank: r.First + base.Rank(i), PID: pid}
			if began {
				e.Lost, e.After = reason, r.launcher.Elapsed()
			}
			event.Ranks = append(event.Ranks, e)
			r.gone[i] = true
		}
	}
	r.mu.Unlock()
	if closing {
		return
	}
	r.launcher.Report(event)
	if !began {
		r.started <- errors.New(reason)
	}
}

// explain says what the end of the connection looks like from here.
func (r *Site) explain(err error) string {
	whose := "agent"
	if r.node != nil {
		whose = "gaspi-run"
	}
	return WhyLost(err, r.launcher.Silence, whose)
}

// WhyLost says what the end of a connection looks like at the other end, for those who allowed silence, of
// the program at this one.
func WhyLost(err error, silence time.Duration, program string) string {
	switch {
	case errors.As(err, new(control.SilentError)):
		return "no sign of life for " + phrase.Limit(silence)
	case control.Ended(err):
		return "the connection to its " + program + " has ended"
	}
	return err.Error()
}

// Signal sends the agent the order to signal the ranks. A signal that ends the job, before the
// order to start the ranks was sent, keeps that order from being sent.
func (r *Site) Signal(sig syscall.Signal) {
	r.sending.Lock()
	defer r.sending.Unlock()
	if !r.ordered {
		if sig == syscall.SIGKILL || supervise.EndSignals[sig] != "" {
			r.refused = sig
		}
		return // there is nobody to get it
	}
	conn := r.conn.Load()
	conn.Send(talk.Frame{Kind: frameSignal, Number: int32(sig)})
	if sig == syscall.SIGTSTP {
		select { // this process is about to stop
		case <-conn.Written():
		case <-time.After(time.Second):
		}
	}
}

// Kill sends the agent the order to kill rank n; it fails before the ranks were ordered to
// start.
func (r *Site) Kill(n base.Rank) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	if !r.ordered {
		return errors.New("its host has not begun to start ranks yet")
	}
	r.conn.Load().Send(talk.Frame{Kind: frameKill, Number: int32(n)})
	return nil
}

// Finish asks the agent to end the processes that the ranks have left behind. It returns when
// the agent has reported that none is left, when the connection has ended, or supervise.LeftoverPatience
// after hurry was closed.
func (r *Site) Finish(hurry <-chan struct{}) {
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
	case <-time.After(supervise.LeftoverPatience):
	}
}

// Close tells the agent that the job is over, closes the connection and waits for its receiver
// to end. It does nothing before there is a connection.
func (r *Site) Close() {
	conn := r.conn.Load()
	if conn == nil {
		return
	}
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	over := talk.Frame{Kind: frameOver}
	if r.node != nil {
		over = encode(frameOver, 0, r.launcher.End())
	}
	conn.Send(over)
	conn.Close()
	r.receiving.Wait()
}
