package status

import (
	"slices"
	"sync"
	"time"
)

// A Teller keeps the row of a rank. It is safe for concurrent use.
type Teller struct {
	counts func() (Counts, PeerTable)
	over   chan struct{}  // closed by Close
	beats  sync.WaitGroup // the goroutine that beats

	mu    sync.Mutex
	out   *Writer // guarded by mu; nil after Close
	row   RankRow // guarded by mu; but for its waits
	waits []*told // guarded by mu; the oldest first
}

// told is a wait, and a function that brings it up to date, or nil.
type told struct {
	Wait
	renew func(w *Wait)
}

// goesOn reports whether w is a wait that has ended and that next goes on for. Callers say when it began about to
// milliseconds.
func (w *told) goesOn(next *Wait) bool {
	return !w.Until.IsZero() && w.Call == next.Call && w.Since.Sub(next.Since).Abs() < linger
}

// linger is how long a wait is told after its end: one that goes on for it, as calls do that are made again and again with
// short time limits, comes before. A row in between would say that the rank computes.
const linger = 200 * time.Millisecond

// NewTeller writes a first row by out, which it takes, and then one in each period until Close. counts
// returns what the rank has done.
func NewTeller(out *Writer, period time.Duration, counts func() (Counts, PeerTable)) *Teller {
	now := time.Now()
	t := &Teller{counts: counts, over: make(chan struct{}), out: out, row: RankRow{Joined: now, Moved: now}}
	t.writeLocked(now)
	t.beats.Go(func() { t.loop(period) })
	return t
}

func (t *Teller) loop(period time.Duration) {
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			t.beat()
		case <-t.over:
			return
		}
	}
}

// Begin tells of a wait until end is called, and for a moment after that, with its end, unless one of the same call and
// beginning is told by then. It owns w from then on. renew, if not nil, is called before each row until end is, by any
// goroutine, and says what the wait is for by now. It calls no method of t and does not block.
func (t *Teller) Begin(w Wait, renew func(w *Wait)) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits = slices.DeleteFunc(t.waits, func(before *told) bool { return before.goesOn(&w) })
	at := len(t.waits)
	for at > 0 && t.waits[at-1].Since.After(w.Since) {
		at--
	}
	wait := &told{w, renew}
	t.waits = slices.Insert(t.waits, at, wait)
	t.writeLocked(time.Now())
	return func() { t.end(wait) }
}

func (t *Teller) end(w *told) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	w.Until, w.renew, t.row.Moved = now, nil, now
	if slices.ContainsFunc(t.waits, func(next *told) bool { return next.Until.IsZero() && w.goesOn(&next.Wait) }) {
		t.forgetLocked(w)
		return
	}
	t.writeLocked(now)
	time.AfterFunc(linger, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forgetLocked(w)
	})
}

// forgetLocked tells no more of a wait that has ended.
func (t *Teller) forgetLocked(w *told) {
	if at := slices.Index(t.waits, w); at >= 0 {
		t.waits = slices.Delete(t.waits, at, at+1)
		t.writeLocked(time.Now())
	}
}

// beat writes the row with the counts of now.
func (t *Teller) beat() {
	counts, table := t.counts()
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.writeTableLocked(table)
	if counts != t.row.Counts {
		t.row.Counts, t.row.Moved = counts, now
	}
	t.writeLocked(now)
}

// Close writes the last row, in which the rank has left. It is called once; later calls of others write
// nothing.
func (t *Teller) Close() {
	close(t.over)
	t.beats.Wait()
	counts, table := t.counts()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writeTableLocked(table)
	t.row.Counts, t.row.Closed, t.waits = counts, true, nil
	t.writeLocked(time.Now())
	if t.out != nil {
		_ = t.out.Close()
		t.out = nil
	}
}

// writeTableLocked writes the table. That it could not is nobody's loss but the reader's.
func (t *Teller) writeTableLocked(table PeerTable) {
	if t.out != nil {
		_ = t.out.WriteTable(table)
	}
}

// writeLocked writes the row. That it could not is nobody's loss but the reader's.
func (t *Teller) writeLocked(now time.Time) {
	if t.out == nil {
		return
	}
	t.row.Beat, t.row.Waits = now, t.row.Waits[:0]
	for _, w := range t.waits {
		if w.renew != nil {
			w.renew(&w.Wait)
		}
		t.row.Waits = append(t.row.Waits, w.Wait)
	}
	_ = t.out.Write(t.row)
}
