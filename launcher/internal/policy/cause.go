package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/phrase"
)

// noticeDelay is how long the sentence about a failure waits for the output of
// the ranks, so that it is the last thing a user reads.
const noticeDelay = time.Second

// A cause is why the exit code is not 0.
type cause struct {
	code     int
	what     string // such as "rank 2 (pid 1234) exited with status 3"
	after    time.Duration
	peers    int    // ranks that were still running
	everyone bool   // it came over all ranks, not from one of them
	loss     string // of a rank by another before that, such as "rank 2 had lost rank 0 (...)"; may be empty
	fatal    bool   // the ranks that still run are told to end
	told     bool
}

// sentence says what happened and what becomes of the ranks that were still
// running; over means that they have ended.
func (c *cause) sentence(over bool) string {
	s := c.what
	if c.after > 0 {
		s += " after " + phrase.Seconds(c.after)
	}
	if c.loss != "" {
		s += ", once " + c.loss
	}
	if c.peers == 0 {
		return s
	}
	ranks := "the other rank"
	if c.peers > 1 {
		ranks = fmt.Sprintf("the other %d ranks", c.peers)
	}
	if c.everyone {
		ranks = strings.Replace(ranks, "the other", "the", 1)
	}
	switch {
	case !c.fatal:
		return s + "; " + ranks + " " + phrase.Plural(c.peers, "goes", "go") + " on"
	case over:
		return s + "; ended " + ranks
	default:
		return s + "; waiting for " + ranks + " to end"
	}
}
