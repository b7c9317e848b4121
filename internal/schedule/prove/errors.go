package prove

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A Rule is what schedules must keep; the package comment lists them.
type Rule string

// The rules.
const (
	Form     Rule = "form"
	Progress Rule = "progress"
	Slots    Rule = "slots"
	Race     Rule = "race"
	Contents Rule = "contents"
)

// An Error says which rule is broken, and where.
type Error struct {
	Rule Rule
	Run  int // from 0, or -1 if it shows without running
	Rank int // or -1 if no rank in particular
	Lane int // or -1 if it is about no step
	Step int // in the lane
	Text string
	What string
}

// Error is one line: the rule, the place, the step as schedules show it, and
// what is wrong with it.
func (e *Error) Error() string {
	s := "prove: " + string(e.Rule) + ":"
	if e.Run >= 0 {
		s += fmt.Sprintf(" run %d", e.Run)
	}
	if e.Rank >= 0 {
		s += fmt.Sprintf(" rank %d", e.Rank)
	}
	if e.Lane >= 0 {
		s += fmt.Sprintf(" lane %d step %d (%s)", e.Lane, e.Step, e.Text)
	}
	if s[len(s)-1] != ':' {
		s += ":"
	}
	return s + " " + e.What
}

// where is a step in a message.
func (k *check) where(e *access) string {
	if e.lane < 0 {
		return fmt.Sprintf("the caller of rank %d before run %d", e.rank, e.run)
	}
	return fmt.Sprintf("rank %d lane %d step %d (%s) of run %d", e.rank, e.lane, e.step, k.step(e).Text(int(e.rank)), e.run)
}

// step is the step of an event.
func (k *check) step(e *access) *schedule.Step { return &k.plans[e.rank].Lanes[e.lane][e.step] }

// errorAt is an error about the step of an event, or about the caller.
func (k *check) errorAt(e *access, rule Rule, format string, args ...any) error {
	err := &Error{Rule: rule, Run: int(e.run), Rank: int(e.rank), Lane: -1, What: fmt.Sprintf(format, args...)}
	if e.lane < 0 {
		err.What = "the caller " + err.What
	} else {
		err.Lane, err.Step, err.Text = int(e.lane), int(e.step), k.step(e).Text(int(e.rank))
	}
	return err
}
