package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// helloPatience is for the first message of the other side. A launcher sends it before the rank
// exists; a rendezvous, to which many ranks come at once, has as long as the rank may take to join.
const helloPatience = 10 * time.Second

// A client is a session over a wire.
type client struct {
	*inbox
	wire     *wire
	hosted   bool          // the server is a part of rank 0, and gone with it
	remote   bool          // it is reached over a network
	received chan struct{} // closed when the receiving goroutine has ended
	patience time.Duration // for the first message of the other side

	answer    atomic.Pointer[func(context.Context, string) ([]byte, error)] // nil until OnAsk
	answering atomic.Int32                                                  // questions
}

// dial greets the launcher at the other end of conn and begins the session. It
// takes conn, also when it returns an error.
func dial(conn net.Conn, info Info) (*client, error) {
	return greeted(&client{inbox: newInbox(info), patience: helloPatience}, conn)
}

// dialRemote is dial for a rank that has reached its rendezvous over a network,
// and has proven there what it is. The rendezvous greets it within patience.
func dialRemote(conn net.Conn, info Info, proof auth.Credentials, patience time.Duration) (*client, error) {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		info.Rendezvous = tcp.AddrPort().Addr().Unmap()
	}
	c := &client{inbox: newInbox(info), remote: true, patience: patience}
	c.proof = proof
	return greeted(c, conn)
}

// greeted completes c and begins its session.
func greeted(c *client, conn net.Conn) (*client, error) {
	c.wire, c.received = newWire(conn), make(chan struct{})
	c.send = c.wire.Send
	if err := c.greet(); err != nil {
		c.wire.Send(message{Kind: kindError, Reason: err.Error()})
		c.wire.Close()
		return nil, err
	}
	go c.receiveLoop()
	return c, nil
}

func (c *client) greet() error {
	hello := message{Kind: kindHello, Version: protocolVersion, Job: c.info.Job, Rank: c.info.Rank, Size: c.info.Size}
	if err := c.wire.Send(hello); err != nil {
		return err
	}
	m, err := c.wire.ReceiveWithin(c.patience)
	switch {
	case errors.Is(err, io.EOF) && c.remote:
		return errors.New("the rendezvous has closed the connection: it is gone, or has ended its talk with an earlier process of this rank")
	case errors.Is(err, io.EOF):
		return lostServer(fmt.Sprintf("the launcher is gone, or an earlier process was rank %d and has left", c.info.Rank))
	case err != nil:
		return fmt.Errorf("greeting %s: %w", c.holder(), err)
	case m.Kind == kindError:
		return fmt.Errorf("%s refused this process: %s", c.holder(), m.Reason)
	case m.Kind != kindHello:
		return fmt.Errorf("greeting %s: it began with a %q message, not with hello", c.holder(), m.Kind)
	case m.Job != c.info.Job || m.Rank != c.info.Rank || m.Size != c.info.Size:
		return fmt.Errorf("greeting %s: it takes this process for rank %d of %d of job %s, but the environment says rank %d of %d of job %s",
			c.holder(), m.Rank, m.Size, m.Job, c.info.Rank, c.info.Size, c.info.Job)
	}
	c.hosted = m.Hosted
	if c.remote {
		c.wire.Watch(heartbeat(time.Duration(min(m.Beat, MaxHeartbeat.Milliseconds())) * time.Millisecond))
	} else if c.proof, err = auth.ParseCredentials(m.Key); err != nil {
		return fmt.Errorf("greeting the launcher: %w", err)
	}
	return nil
}

// holder names the other side before it has said what it is.
func (c *client) holder() string {
	if c.remote {
		return "the rendezvous"
	}
	return "the launcher"
}

// receiveLoop hands on what the launcher says until it is gone or Close is called.
func (c *client) receiveLoop() {
	defer close(c.received)
	for {
		m, err := c.wire.Receive()
		if err == nil {
			err = c.handle(m)
		}
		if err == nil {
			continue
		}
		c.end(err)
		return
	}
}

// end ends a session whose server is gone or talks nonsense.
func (c *client) end(err error) {
	reason := ErrLost
	if c.hosted {
		reason = errHolderLost
	}
	if said, ok := errors.AsType[dismissal](err); ok && !c.hosted {
		reason = lostServer("the launcher has closed the connection: " + string(said))
	} else if !errors.Is(err, io.EOF) {
		c.wire.Send(message{Kind: kindError, Reason: err.Error()})
		reason = fmt.Errorf("%w: %w", reason, err)
	}
	if c.hosted && c.info.Rank != 0 {
		text := "its connection ended without goodbye"
		if !errors.Is(err, io.EOF) {
			text = err.Error()
		}
		c.rankGone(Failure{Rank: 0, Reason: text})
	}
	c.finish(reason)
	c.wire.Close()
}

// A dismissal is why the server has closed the connection, in its words.
type dismissal string

func (d dismissal) Error() string { return "it closed the connection: " + string(d) }

func (c *client) handle(m message) error {
	if int(m.Rank) >= c.info.Size {
		return fmt.Errorf("%s message about rank %d of a job of %d", m.Kind, m.Rank, c.info.Size)
	}
	if at := slices.IndexFunc(m.Also, func(r base.Rank) bool { return int(r) >= c.info.Size }); at >= 0 {
		return fmt.Errorf("%s message about rank %d of a job of %d", m.Kind, m.Also[at], c.info.Size)
	}
	switch m.Kind {
	case kindDie:
		if !c.hosted {
			return errors.New("unexpected die message")
		}
		return dieNow()
	case kindError:
		return dismissal(m.Reason)
	case kindAsk:
		return c.asked(m)
	default:
		return c.take(m)
	}
}

// Close says goodbye and waits for the server to hang up, so that the goodbye is
// not lost with what else was on the way.
func (c *client) Close() error {
	if c.finish(fmt.Errorf("boot session: %w", base.ErrClosed)) {
		c.wire.Send(message{Kind: kindBye, Rank: c.info.Rank})
	}
	c.wire.EndSending()
	select {
	case <-c.received:
	case <-time.After(goodbyePatience):
	}
	c.wire.Break()
	<-c.received
	return nil
}

// dieNow ends this process as if somebody had killed it: nothing is run, nothing
// flushed.
func dieNow() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	return fmt.Errorf("asked to die, and still here: %w", err)
}
