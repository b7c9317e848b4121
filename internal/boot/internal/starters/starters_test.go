package starters

import (
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestVariablesAreRemoved compares the variables that starters set with those that
// package testenv removes from the environment of tests.
func TestVariablesAreRemoved(t *testing.T) {
	names := []string{PMIRank, PMIFD, PMIPort, PMIID, PMIJob, hydraLocal, slurmProc, slurmTasks, slurmFrom}
	for _, s := range slices.Concat(inner, outer) {
		names = append(append(names, s.rank, s.size, s.localRank, s.localSize, s.group), slices.Concat(s.also, s.same)...)
	}
	for _, a := range announcements {
		names = append(names, a.name)
	}
	for _, name := range names {
		if name != "" && !testenv.Removes(name) {
			t.Errorf("testenv.Main leaves %s in the environment of tests", name)
		}
	}
}

// TestNumberWithoutSize has each starter's variables that make a process one of several, without
// the one that says of how many. The announcement names the variable, and no starter, since others may
// set the same.
func TestNumberWithoutSize(t *testing.T) {
	for _, s := range slices.Concat(inner, outer) {
		for _, name := range []string{s.rank, s.localRank, s.localSize} {
			if name == "" {
				continue
			}
			v := &variables.Reader{Lookup: func(asked string) (string, bool) {
				if asked != name {
					return "", false
				}
				return "2", true
			}}
			if Of(v) != nil {
				t.Errorf("%s=2 alone is of a starter", name)
			}
			want := Announcement{name, "2", s.size + ", which says of how many, is not set"}
			if got := Announced(v); got == nil || *got != want {
				t.Errorf("%s=2: %+v; want %+v", name, got, want)
			}
		}
	}
}
