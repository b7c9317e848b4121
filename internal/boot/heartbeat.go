package boot

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// A connection over a network can die without a word: a cable, a host, a
// process that was stopped. So both sides send a beat now and then, and take
// silence for death. The server decides how long that may last, and tells the
// rank in its hello.
const (
	// DefaultHeartbeat is how long a peer may be silent unless somebody says
	// otherwise.
	DefaultHeartbeat = 10 * time.Second
	// MinHeartbeat is the shortest limit: less, and a loaded machine is taken for
	// a dead one.
	MinHeartbeat = 100 * time.Millisecond

	// MaxHeartbeat is the longest limit but none at all.
	MaxHeartbeat = 24 * time.Hour

	beatsPerLimit = 4 // so that a beat may come late without harm
)

// errSilent says that the peer gave no sign of life for so long.
type errSilent struct{ limit time.Duration }

func (e errSilent) Error() string { return fmt.Sprintf("no sign of life for %v", e.limit) }

// watch sends beats from now on, and ends receiving when the peer is silent for
// longer than limit. A limit of 0 does neither. It is called once, and not while
// the wire is being closed.
func (w *wire) watch(limit time.Duration) {
	if limit <= 0 {
		return
	}
	w.silence.Store(int64(limit))
	w.beats.Go(func() { w.beatLoop(limit / beatsPerLimit) })
}

// beatLoop sends beats until the wire is closed or the peer is gone.
func (w *wire) beatLoop(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if w.send(message{Kind: kindBeat}) != nil {
				return
			}
		case <-w.sent:
			return
		}
	}
}

// A listener reads from a wire's connection, for no longer than the peer may be
// silent. Any byte is a sign of life, also in the middle of a long line. It waits
// in short turns: a process that was stopped for a while, as when the user has
// suspended the job, finds a long silence that is its own, and counts one turn.
type listener struct{ w *wire }

func (l listener) Read(b []byte) (int, error) {
	limit := time.Duration(l.w.silence.Load())
	if limit <= 0 {
		return l.w.conn.Read(b)
	}
	turn := limit / (2 * beatsPerLimit)
	for quiet := time.Duration(0); ; {
		begun := time.Now()
		l.w.conn.SetReadDeadline(begun.Add(turn))
		n, err := l.w.conn.Read(b)
		quiet += min(time.Since(begun), 2*turn)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || quiet >= limit {
			return n, err
		}
	}
}
