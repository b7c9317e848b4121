package figure

import (
	"fmt"
	"strings"
)

// A Way is how the numbers of a figure come about.
type Way int

// The ways, in the order in which they are shown.
const (
	// Simulated: the schedules of all ranks on a model of the paper's machine, at
	// the paper's number of ranks and sizes.
	Simulated Way = iota
	// Emulated: ranks are processes of this machine, each behind a network card of
	// its own that is made up. What happens is real but for the links.
	Emulated
	// Raw: ranks are processes of this machine.
	Raw

	ways
)

// String is the name of a way, as --way takes it.
func (w Way) String() string {
	switch w {
	case Simulated:
		return "simulated"
	case Emulated:
		return "emulated"
	case Raw:
		return "raw"
	}
	return fmt.Sprintf("Way(%d)", int(w))
}

// Ways are all there are.
func Ways() []Way {
	all := make([]Way, ways)
	for i := range all {
		all[i] = Way(i)
	}
	return all
}

// ParseWays reads "simulated,raw".
func ParseWays(text string) ([]Way, error) {
	var chosen []Way
next:
	for field := range strings.SplitSeq(text, ",") {
		for _, w := range Ways() {
			if w.String() == strings.TrimSpace(field) {
				chosen = append(chosen, w)
				continue next
			}
		}
		return nil, fmt.Errorf("%q: expected simulated, emulated or raw, or several with commas between", field)
	}
	return chosen, nil
}
