package control

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// oneSide returns a Conn and the connection of its peer, which reads and says nothing.
func oneSide(h Heartbeat) (c *Conn[string], other net.Conn) {
	a, b := net.Pipe()
	c = New(a, text())
	c.Watch(h)
	go io.Copy(io.Discard, b)
	return c, b
}

func TestSilenceIsDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := oneSide(Heartbeat{Period: time.Second, Limit: 10 * time.Second})
		begun := time.Now()
		_, err := c.Receive()
		if took := time.Since(begun); err != (SilentError{10 * time.Second}) || err.Error() != "no sign of life for 10s" || Ended(err) || took < 10*time.Second || took > 13*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		c.Send("the connection is still there")
		c.Close()
		other.Close()
	})
}

func TestHeartbeatsKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left, right := New(a, text()), New(b, text())
		for _, c := range []*Conn[string]{left, right} {
			c.Watch(Heartbeat{Period: time.Second, Limit: 4 * time.Second})
		}
		go left.Receive() // it reads the signs of life of the other side
		go func() {
			time.Sleep(time.Hour) // sleep: with nothing but signs of life, by the clock of the bubble
			left.Send("x")
			left.Close()
		}()
		if s, err := right.Receive(); s != "x" || err != nil {
			t.Errorf("%q, %v", s, err)
		}
		right.Close()
	})
}

func TestSilenceWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := oneSide(Heartbeat{Period: time.Second})
		go func() {
			time.Sleep(24 * time.Hour) // sleep: silence, by the clock of the bubble
			other.Write([]byte{1, 'x'})
		}()
		if s, err := c.Receive(); s != "x" || err != nil {
			t.Errorf("%q, %v after a day of silence", s, err)
		}
		other.Close()
		c.Close()
	})
}

func TestSilenceIsAllowedInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := oneSide(Heartbeat{Period: time.Second, Limit: time.Second})
		c.Pause(true)
		go func() {
			time.Sleep(time.Hour) // sleep: silence, by the clock of the bubble
			other.Write([]byte{1, 'x'})
			c.Pause(false)
		}()
		begun := time.Now()
		if s, err := c.Receive(); s != "x" || err != nil {
			t.Errorf("%q, %v", s, err)
		}
		if _, err := c.Receive(); err != (SilentError{time.Second}) || time.Since(begun) < time.Hour+time.Second {
			t.Errorf("%v after %v, want the silence after the pause", err, time.Since(begun))
		}
		other.Close()
		c.Close()
	})
}

// TestEveryByteIsASignOfLife sends a message that takes longer than silence may.
func TestEveryByteIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := oneSide(Heartbeat{Limit: time.Second})
		go func() {
			for _, b := range append([]byte{10}, "abcdefghij"...) {
				time.Sleep(900 * time.Millisecond) // sleep: less than the limit, by the clock of the bubble
				other.Write([]byte{b})
			}
		}()
		if s, err := c.Receive(); s != "abcdefghij" || err != nil {
			t.Errorf("%q, %v", s, err)
		}
		other.Close()
		c.Close()
	})
}

// TestFirstMessageHasATimeOfItsOwn has no limit of silence yet.
func TestFirstMessageHasATimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := oneSide(Heartbeat{})
		begun := time.Now()
		if _, err := c.ReceiveWithin(10 * time.Second); err != (SilentError{10 * time.Second}) || time.Since(begun) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		go other.Write([]byte{1, 'x'})
		if s, err := c.ReceiveWithin(10 * time.Second); s != "x" || err != nil {
			t.Errorf("%q, %v", s, err)
		}
		go func() {
			time.Sleep(time.Hour) // sleep: silence, by the clock of the bubble
			other.Write([]byte{1, 'y'})
		}()
		if s, err := c.Receive(); s != "y" || err != nil {
			t.Errorf("%q, %v: the time of the first message has held for the next", s, err)
		}
		other.Close()
		c.Close()
	})
}
