package faults

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestTrialWaitsForNobodyInItsFirstCall asks which ranks make calls beside the first when two
// of three hosts have lost each other. A call that needs the whole job ends on the third host
// only when others leave: until then nobody there makes another.
func TestTrialWaitsForNobodyInItsFirstCall(t *testing.T) {
	for _, c := range []struct {
		first, call string
		meets       []bool // index is the rank, of the two hosts
	}{
		{"gaspi.Proc.PassiveReceive", "gaspi.Proc.Barrier", []bool{true, false, true, true}},
		{"gaspi.Proc.PassiveReceive", "gaspi.Proc.FetchAnd", []bool{true, true, true, true}},
		{"gaspi.Proc.FetchAnd", "gaspi.Proc.Barrier", []bool{true, true, true, true}},
	} {
		x := &Trial{
			Fault: string(oneWay), Calls: []string{c.first}, Shift: 1,
			Hosts: []int{0, 0, 1, 1, 2, 2}, Groups: []int{0, 1, 0, 0, 2, 1}, Victim: 1, Other: 3,
		}
		for r, want := range c.meets {
			if got := x.meets(x.row(c.call), gaspi.Rank(r)); got != want {
				t.Errorf("after %s, rank %d makes %s with all of its group: %v, want %v", c.first, r, c.call, got, want)
			}
		}
	}
}
