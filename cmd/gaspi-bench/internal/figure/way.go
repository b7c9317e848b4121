package figure

import (
	"fmt"
	"slices"
	"strings"
)

// A Setting is how the numbers of a figure come about.
type Setting int

// The ways, in the order in which they are shown.
const (
	// Simulated: the schedules of all ranks on a model of the paper's machine, at
	// the paper's number of ranks and sizes.
	Simulated Setting = iota
	// Emulated: ranks are processes of this machine, each behind a network card of
	// its own that is made up. All but the links is real.
	Emulated
	// Raw: ranks are processes of this machine.
	Raw

	ways
)

// String is the name of a way, as --way takes it.
func (w Setting) String() string {
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
func Ways() []Setting {
	all := make([]Setting, ways)
	for i := range all {
		all[i] = Setting(i)
	}
	return all
}

// ParseWays reads "simulated,raw".
func ParseWays(text string) ([]Setting, error) {
	var chosen []Setting
	for field := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(Ways(), func(w Setting) bool { return w.String() == strings.TrimSpace(field) })
		if i < 0 {
			return nil, fmt.Errorf("%q: expected simulated, emulated or raw, or several with commas between", field)
		}
		chosen = append(chosen, Ways()[i])
	}
	return chosen, nil
}
