//go:build !linux || portable

package memory

import (
	"errors"
	"testing"
)

// TestOnlyLinux: what other systems lack is an error that says so.
func TestOnlyLinux(t *testing.T) {
	_, file := OpenPeer(1, 1)
	for name, err := range map[string]error{"file": file} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
