//go:build !linux || portable

package thread

import (
	"errors"
	"testing"
)

// TestOnlyLinux: what other systems lack is an error that says so.
func TestOnlyLinux(t *testing.T) {
	_, alarm := NewAlarm()
	_, slack := TimerSlack()
	for name, err := range map[string]error{
		"alarm": alarm, "cores": SetCores(nil), "slack": slack, "setting slack": SetTimerSlack(1),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
