package policy

import (
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// Losses are connections between ranks that broke, as the ranks say, while both still
// ran as far as is known. The rank that ends first because of one need not be one of the
// two: who ends closes its connections, and others end with that.
type Losses struct {
	mu    sync.Mutex
	first []loss // guarded by mu; as they came, one for each rank that was lost
	over  bool   // guarded by mu; the ranks are being ended, and lose each other all the time
	known []bool // guarded by mu; index is a rank that is in first, or whose end was seen
}

// A loss is a rank that another one cannot reach any more.
type loss struct {
	by, rank base.Rank
	reason   string
}

// NewLosses returns the losses of a job of so many ranks, of which there are none yet. The methods may be called from
// any goroutine.
func NewLosses(ranks int) *Losses { return &Losses{known: make([]bool, ranks)} }

// Note notes what rank by says. It does not block.
func (l *Losses) Note(by base.Rank, what boot.Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.known[what.Rank] {
		return
	}
	l.known[what.Rank] = true
	l.first = append(l.first, loss{by: by, rank: what.Rank, reason: what.Reason})
}

// Seen says that the end of rank r was seen, so that its loss needs no telling.
func (l *Losses) Seen(r base.Rank) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[r] = true
	for i := range l.first {
		if l.first[i].rank == r {
			l.first = append(l.first[:i], l.first[i+1:]...)
			return
		}
	}
}

// Stop says that the ranks are being ended.
func (l *Losses) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

// Behind is the first loss that may be why a rank has exited, as a part of a sentence;
// empty if there is none, or if something else is known to have ended the rank.
func (l *Losses) Behind(e RankExit) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.first) == 0 || e.Signal != 0 || e.Lost != "" {
		return ""
	}
	first := l.first[0]
	who := fmt.Sprintf("rank %d", first.by)
	if first.by == e.Rank {
		who = "it"
	}
	return fmt.Sprintf("%s had lost rank %d (%s)", who, first.rank, first.reason)
}
