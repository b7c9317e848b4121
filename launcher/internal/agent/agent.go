// Package agent is the ranks of another host: an Agent, there, runs them, and a Site is the launcher's end of
// the connection with it. Both speak frames that nobody else knows.
//
// It starts no agents, and decides nothing about the job: that is the business of package launcher, which
// makes an Order of what its user has said.
package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/control"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// Exit statuses of an agent that did not come to work.
const (
	agentUseless     = 3 // it was started wrongly
	agentUnconnected = 4 // it cannot reach its launcher
)

// Run is launcher.RunAgent: it runs ranks of this host for the launcher that the first line of stdin names.
func Run(stdin io.Reader, stderr io.Writer, staged string, probe func() (supervise.Prober, error)) int {
	if staged != "" {
		// The program goes on without its file, and nothing can forget it.
		os.RemoveAll(staged)
	}
	say := func(err error) { fmt.Fprintf(stderr, "gaspi-run agent: %v\n", err) }
	deafen()
	config, err := readContact(stdin)
	if err != nil {
		say(err)
		return agentUseless
	}
	conn, reached, err := config.connect()
	if err != nil {
		say(err)
		return agentUnconnected
	}
	if err := process.AdoptOrphans(); err != nil {
		say(err) // processes that leave their group will not be found
	}
	a := &Agent{
		config: config,
		probe:  probe,
		conn:   talk.New(conn, config.Silence),
		thread: supervise.NewThread(),
		family: &supervise.Children{},
		told:   make(chan os.Signal, 1),
	}
	signal.Notify(a.told, syscall.SIGTERM)
	go a.endLoop()
	return a.run(reached)
}

// deafen makes this process take no notice of signals that are meant for the
// launcher. They are caught, for what is ignored would stay so in the ranks.
func deafen() {
	nobody := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTSTP} {
		if !signal.Ignored(sig) {
			signal.Notify(nobody, sig)
		}
	}
}

// An Own is what the user of a node has said of the ranks there, and node 0 has not.
type Own struct {
	Complete func(t *supervise.Task)          // adds it to the task of the node
	Notice   func(sentence string)            // tells the user
	Probe    func() (supervise.Prober, error) // as of supervise.Task
}

// An Agent runs the ranks of this host for a launcher elsewhere: as a process of its own, or, of a node, as the
// part of a gaspi-run that does what node 0 says.
type Agent struct {
	config Contact
	conn   *talk.Conn
	probe  func() (supervise.Prober, error) // nil for none
	thread *supervise.Thread
	family *supervise.Children
	told   chan os.Signal // to end, by somebody on this host

	order   Order
	own     *Own                // nil unless this is a node, with output of its own
	program *executable.Staging // nil unless the program comes over the connection
	local   *supervise.Ranks    // nil until the order is complete
	relay   *relay
	begun   chan struct{} // closed when the start of the ranks has returned
	hurry   chan struct{} // closed to cut short the wait for leftovers, once
	hurried sync.Once
	done    chan struct{} // closed when nothing of the ranks is left; nil while nobody asked
}

// endLoop breaks the connection, and with it everything, when the system wants
// this agent to end.
func (a *Agent) endLoop() {
	if _, ok := <-a.told; ok {
		a.log("the agent was told to end by SIGTERM")
		a.conn.Break()
	}
}

// run does what the launcher says until it says that the job is over.
func (a *Agent) run(reached string) int {
	name, _ := os.Hostname()
	a.conn.Send(encode(frameReady, 0, Ready{Host: name, PID: os.Getpid(), Cores: runtime.GOMAXPROCS(0), Reached: reached}))
	a.hurry = make(chan struct{})
	for {
		f, err := a.conn.Receive()
		if errors.As(err, new(control.SilentError)) {
			a.conn.Break() // a launcher that comes back finds that it has lost this host
		}
		if err == nil && f.Kind == frameOver {
			break
		}
		if err == nil {
			err = a.handle(f)
		}
		if err != nil {
			a.Abandon()
			break
		}
	}
	a.Close()
	return 0
}

// Join returns the agent of a node, which runs ranks for node 0 at the other end of conn. It takes conn.
func Join(conn *talk.Conn, own Own) *Agent {
	return &Agent{
		conn: conn, own: &own, probe: own.Probe, hurry: make(chan struct{}),
		thread: supervise.NewThread(), family: &supervise.Children{},
	}
}

// Receive returns the next frame of node 0, for Obey.
func (a *Agent) Receive() (talk.Frame, error) { return a.conn.Receive() }

// Obey does what one frame of node 0 says. It returns the end of the job when that is over.
func (a *Agent) Obey(f talk.Frame) (*JobEnd, error) {
	switch f.Kind {
	case frameNotice:
		a.own.Notice(string(f.Data))
		return nil, nil
	case frameOver:
		v, err := decode[JobEnd](f)
		return &v, err
	}
	return nil, a.handle(f)
}

// Ask sends node 0 what the user of this node wants.
func (a *Agent) Ask(d Demand) { a.conn.Send(encode(frameDemand, 0, d)) }

// Ordered reports whether node 0 has said which ranks are to be started.
func (a *Agent) Ordered() bool { return a.local != nil }

// Begun returns a channel that is closed when the start of the ranks has returned, valid once they are ordered.
func (a *Agent) Begun() <-chan struct{} { return a.begun }

// AwaitFinish returns when nothing of the ranks is left, if node 0 has asked for that.
func (a *Agent) AwaitFinish() {
	if a.done != nil {
		<-a.done
	}
}

// Break ends the connection.
func (a *Agent) Break() { a.conn.Break() }

// handle does what one frame says.
func (a *Agent) handle(f talk.Frame) error {
	if f.Kind == frameOrder {
		return a.take(f)
	}
	if f.Kind == frameProgram && a.program != nil && a.local == nil {
		return a.receive(f.Data)
	}
	if a.local == nil {
		return fmt.Errorf("frame of kind %d before the order was complete", f.Kind)
	}
	switch f.Kind {
	case frameSignal:
		a.Signal(syscall.Signal(f.Number))
	case frameKill:
		if n := base.Rank(f.Number) - a.order.First; n >= 0 && int(n) < len(a.order.Ranks) {
			a.local.Kill(base.Rank(f.Number))
		}
	case frameInput, frameTaken:
		if a.relay == nil {
			return fmt.Errorf("frame of kind %d for a node that has its own input and output", f.Kind)
		}
		if f.Kind == frameTaken {
			a.relay.taken(f)
		} else {
			a.readInput(f.Data)
		}
	case frameFinish:
		if a.done == nil {
			a.done = make(chan struct{})
			go a.finish()
		}
	case frameLook:
		a.look(f)
	case framePing:
		a.conn.Send(a.pong(f.Number))
	case frameRecorded:
		return a.sendRecorded(f)
	case frameHurry:
		a.hurried.Do(func() { close(a.hurry) })
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

// take begins to do what is ordered, or to receive the program for it.
func (a *Agent) take(f talk.Frame) (err error) {
	if a.order.Name != "" {
		return errors.New("a second order")
	}
	if a.order, err = decode[Order](f); err != nil {
		return err
	}
	if len(a.order.Identities) != len(a.order.Ranks) {
		return fmt.Errorf("an order with %d identities for %d ranks", len(a.order.Identities), len(a.order.Ranks))
	}
	if a.own != nil {
		if _, err := auth.ParseKey(a.order.Key); err != nil {
			return err
		}
		a.begin(nil)
		return nil
	}
	if a.order.Program == "" {
		a.program, err = executable.NewStaging(a.order.Name)
		return err
	}
	a.begin(executable.At(a.order.Program, a.order.Name))
	return nil
}

// receive takes the next bytes of the program, and begins when they were all.
func (a *Agent) receive(piece []byte) error {
	if len(piece) > 0 {
		return a.program.Add(piece)
	}
	p, err := a.program.Complete()
	if err != nil {
		return err
	}
	a.begin(p)
	return nil
}

// begin starts the ranks, of which a node knows the program itself. Signals for them are handled meanwhile.
func (a *Agent) begin(p *executable.File) {
	a.begun = make(chan struct{})
	a.local = supervise.New(a.task(p))
	go func() {
		defer close(a.begun)
		s := started{}
		if err := a.local.Start(); err != nil {
			s.Problem, s.Because = err.Error(), obstacleOf(err)
		}
		if a.relay != nil {
			a.relay.endUnopened()
		}
		s.PIDs = a.local.PIDs()
		a.conn.Send(encode(frameStarted, 0, s))
	}()
}

// task says what the ranks are: of a node, as its own user has said, and then p is nil.
func (a *Agent) task(p *executable.File) supervise.Task {
	o := a.order
	t := supervise.Task{
		First: o.First, Own: o.Ranks, Grace: o.Grace, Stopped: o.StopLimit,
		Report: a.report, Log: a.log,
		JobRanks: o.Size, Measure: o.Measures > 0, Probe: a.probe, Slots: o.Slots, Debug: o.Debug,
		Link: func(r base.Rank) (*os.File, error) {
			return keyFile(a.jobKey() + "\n" + o.Identities[r-o.First])
		},
		Thread: a.thread, Children: a.family,
	}
	if a.own != nil {
		a.own.Complete(&t)
		return t
	}
	dir := o.Dir
	if info, err := os.Stat(dir); o.AnyDir && (err != nil || !info.IsDir()) {
		dir = ""
		a.log(fmt.Sprintf("there is no directory %s; ranks start elsewhere", o.Dir))
	}
	t.Command = p.Command(o.Title, dir, o.Args)
	t.Command.Inherited, t.Command.Added = settle(o.Env), o.Added
	t.Cores, t.Adopt = o.Bind != 0, true
	a.relay = newRelay(a.conn, o, a.begun)
	t.Files = a.relay.files
	return t
}

// jobKey is the key of the job as text.
func (a *Agent) jobKey() string {
	if a.own != nil {
		return a.order.Key
	}
	return a.config.proof.Key.Text()
}

// Signal passes a signal on. A launcher that suspends its job is about to be
// silent.
func (a *Agent) Signal(sig syscall.Signal) {
	if sig == syscall.SIGTSTP || sig == syscall.SIGCONT {
		a.conn.Pause(sig == syscall.SIGTSTP)
	}
	a.local.Signal(sig)
}

func (a *Agent) readInput(piece []byte) {
	if len(piece) == 0 {
		a.relay.input.Close()
		return
	}
	a.relay.input.Put(piece)
}

// report sends an event of the ranks to the launcher.
func (a *Agent) report(event any) {
	switch e := event.(type) {
	case supervise.RankEnded:
		a.conn.Send(encode(frameEnded, 0, e))
	case supervise.RankStopped:
		a.conn.Send(encode(frameStopped, 0, e))
	case supervise.RankDebugged:
		a.conn.Send(encode(frameDebugged, 0, e))
	}
}

func (a *Agent) log(line string) {
	a.conn.Send(talk.Frame{Kind: frameLog, Data: []byte(line)})
}

// finish ends what the ranks have left behind.
func (a *Agent) finish() {
	defer close(a.done)
	<-a.begun
	a.local.Finish(a.hurry)
	a.conn.Send(talk.Frame{Kind: frameFinished})
	if a.relay != nil {
		time.AfterFunc(stdio.DrainPatience, a.relay.outputs.Hurry)
	}
}

// Abandon ends all ranks at once: nobody is there any more to whom they belong.
func (a *Agent) Abandon() {
	if a.local == nil {
		return
	}
	<-a.begun
	a.local.Signal(syscall.SIGKILL)
	a.hurried.Do(func() { close(a.hurry) })
	a.local.AwaitEnds()
	a.local.Finish(nil)
}

// Close waits for what the launcher has asked for, and closes the connection.
func (a *Agent) Close() {
	if a.local != nil {
		if a.done != nil {
			<-a.done
		}
		if a.relay != nil {
			a.relay.close()
		}
		a.local.Close()
	}
	a.conn.Close()
	a.thread.Close()
}

// keyFile makes the file in which a rank finds its credentials. It has no name, and
// is gone with its last descriptor.
func keyFile(text string) (*os.File, error) {
	fd, err := memory.Create("gaspi-key", int64(len(text)))
	if err != nil {
		return nil, fmt.Errorf("file with the key of the job: %w", err)
	}
	f := os.NewFile(uintptr(fd), "key")
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("file with the key of the job: %w", err)
	}
	return f, nil
}
