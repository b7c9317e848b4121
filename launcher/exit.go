package launcher

import (
	"fmt"
	"strings"
)

// reason is what other ranks are told.
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

// describe is the first half of a sentence for the user.
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
