package live

import (
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

const (
	period = time.Second // between two looks
	kept   = 60          // looks that are remembered
)

// A history is what the last looks at a job have found.
type history struct {
	mu   sync.Mutex
	now  launcher.JobView // guarded by mu; the last one
	past []sample         // guarded by mu; at most kept, the oldest first
}

// A sample is a look, in short.
type sample struct {
	cells []byte    // of each rank: its digit of the time that it waited, or a letter; see cellOf
	rates []float64 // of each rank: bytes that it moved in a second
	share []float64 // of each rank: part of the time that it waited, 0 to 1
}

// add takes a look. It does nothing if the job was over.
func (h *history) add(view launcher.JobView) {
	if len(view.Ranks) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var s sample
	for r, v := range view.Ranks {
		var share, rate float64
		if took := view.At.Sub(h.now.At); r < len(h.now.Ranks) && took > 0 {
			share, rate = Between(&h.now.Ranks[r], &v, took)
		}
		s.cells = append(s.cells, cellOf(v.State, share))
		s.rates, s.share = append(s.rates, rate), append(s.share, share)
	}
	h.now = view
	h.past = append(h.past, s)
	h.past = slices.Delete(h.past, 0, max(0, len(h.past)-kept))
}

// Between returns the part of a time that a rank waited, and the bytes that it moved in a second. A wait
// under way is in no count yet.
func Between(before, now *launcher.RankActivity, took time.Duration) (share, rate float64) {
	waited := now.Stats.Waited - before.Stats.Waited
	if now.State == "waiting" || now.State == "in collective" {
		waited = max(waited, min(now.Since, took))
	}
	moved := float64(now.Stats.BytesWritten+now.Stats.BytesRead) - float64(before.Stats.BytesWritten+before.Stats.BytesRead)
	return min(1, max(0, waited.Seconds()/took.Seconds())), max(0, moved/took.Seconds())
}

// cellOf is one character of the timeline: a digit for the tenths of the time that a rank waited, or a
// letter for one that neither computes nor waits.
func cellOf(state string, share float64) byte {
	switch state {
	case "computing", "waiting", "in collective":
		return '0' + byte(min(9, int(share*10)))
	case "silent":
		return 's'
	case "left":
		return 'l'
	case "gone":
		return 'g'
	}
	return 'n' // not joined
}

// seen reports whether there was a look.
func (h *history) seen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.past) > 0
}

// latest returns the last look.
func (h *history) latest() launcher.JobView {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}
