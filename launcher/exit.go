package launcher

import (
	"fmt"
	"strings"
	"time"
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

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// seconds writes a duration the way a user thinks of it.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// round writes a limit that somebody has set.
func round(d time.Duration) string {
	switch {
	case d%time.Second == 0 && d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d%time.Millisecond == 0 && d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	}
	return d.String()
}
