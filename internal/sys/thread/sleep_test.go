package thread

import (
	"testing"
	"time"
)

// Goal: no sleep is too short, whatever signals come in between.
func TestSleep(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, 0, time.Nanosecond, 30 * time.Microsecond, 3 * time.Millisecond} {
		began := time.Now()
		if err := Sleep(d); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < d {
			t.Errorf("a sleep of %v took %v", d, took)
		}
	}
}
