package boot

import (
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
)

const (
	firstReminder = 10 * time.Second // a wait that users wonder about
	nextReminder  = time.Minute
)

// Remind calls say after 10 s, and then every minute, with how long it has been called,
// such as "70 s". It blocks until done is closed.
func Remind(done <-chan struct{}, say func(since string)) {
	begun := time.Now()
	for pause := firstReminder; ; pause = nextReminder {
		select {
		case <-done:
			return
		case <-time.After(pause):
			say(fmt.Sprintf("%d s", int(time.Since(begun).Round(time.Second).Seconds())))
		}
	}
}

// reports are the functions that hear of the beginning of a session, in one line each. Nil
// functions hear nothing.
type reports struct {
	log  func(line string) // of connections that were refused
	wait func(line string) // what has been waited for, for a while
}

func (r reports) logs(line string) {
	if r.log != nil {
		r.log(line)
	}
}

// remind tells wait what is waited for until done is closed.
func (r reports) remind(done <-chan struct{}, what func() string) {
	Remind(done, func(since string) {
		if r.wait != nil {
			r.wait(fmt.Sprintf("waiting for %s for %s", what(), since))
		}
	})
}

// missingText names the ranks that have not come, in order, to a job of size ranks:
// "ranks 2 and 4-7 (5 of 9 are missing)". It names a few and counts all.
func missingText(missing []base.Rank, size int) string {
	return phrase.Missing(ranksText(missing), len(missing), size)
}

// ranksText names a few of some ranks, in order.
func ranksText(ranks []base.Rank) string { return phrase.Named(ranks, "rank", "ranks") }

// others returns the ranks of a job of size ranks that are not among those of an ordered list.
func others(ranks []base.Rank, size int) []base.Rank {
	var out []base.Rank
	for r := range base.Rank(size) {
		if _, listed := slices.BinarySearch(ranks, r); !listed {
			out = append(out, r)
		}
	}
	return out
}

// reminds reports whether a rank says that rank 0 is missing: two of each host do, since
// one may be rank 0.
func (i Info) reminds() bool { return i.LocalRank < 2 }
