package policy

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A RankExit says how a rank has ended; see launcher.RankExit.
type RankExit struct {
	Rank   base.Rank
	PID    int
	Status int
	Signal syscall.Signal
	Core   bool
	After  time.Duration
	Ended  bool
	Lost   string
	Why    string
}

// Failed reports whether the rank ended other than with status 0.
func (e RankExit) Failed() bool { return e.Status != 0 || e.Signal != 0 }

// Code returns the exit status as a shell shows it: 128 plus the signal if one killed the rank.
func (e RankExit) Code() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Status
}

// reason returns what other ranks are told of the end.
func (e RankExit) reason() string {
	switch {
	case e.Lost != "":
		return e.Lost
	case e.Why != "":
		return e.Why
	}
	if e.Signal != 0 {
		return fmt.Sprintf("killed by signal %d", int(e.Signal))
	}
	return fmt.Sprintf("exit status %d", e.Status)
}

// describe returns the first half of a sentence for the user.
func (e RankExit) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d (pid %d) ", e.Rank, e.PID)
	if e.Lost != "" {
		return b.String() + "is gone: " + e.Lost
	}
	if e.Signal == 0 {
		fmt.Fprintf(&b, "exited with status %d", e.Status)
		return b.String()
	}
	fmt.Fprintf(&b, "was killed by signal %d (%v)", int(e.Signal), e.Signal)
	if e.Core {
		b.WriteString(" and dumped core")
	}
	if e.Why != "" {
		b.WriteString(" because it was " + e.Why)
	}
	return b.String()
}
