//go:build !linux || portable

package socket

import (
	"errors"
	"testing"
)

// TestOnlyLinux: what other systems lack is an error that says so.
func TestOnlyLinux(t *testing.T) {
	_, poller := NewPoller()
	_, unsent := Unsent(0)
	for name, err := range map[string]error{"poller": poller, "unsent": unsent} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
