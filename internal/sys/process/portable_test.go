//go:build !linux || portable

package process

import (
	"errors"
	"testing"
)

// TestOnlyLinux: what other systems lack is an error that says so.
func TestOnlyLinux(t *testing.T) {
	_, exits := WatchExits()
	_, program := CreateProgramFile("x")
	for name, err := range map[string]error{"exits": exits, "program": program, "orphans": AdoptOrphans(), "ranks": Supported()} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
