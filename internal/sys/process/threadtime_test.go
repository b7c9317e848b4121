//go:build linux && !portable

package process

import (
	"os"
	"testing"
	"time"
)

func TestMeasureProcessor(t *testing.T) {
	before, err := MeasureProcessor()
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after.CPU-before.CPU < time.Millisecond; { // which takes a millisecond of processor time
		if after, err = MeasureProcessor(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunDelays(t *testing.T) {
	seen := map[int]time.Duration{}
	if err := RunDelays(func(thread int, d time.Duration) { seen[thread] = d }); err != nil {
		t.Fatal(err)
	}
	first, ok := seen[os.Getpid()]
	if !ok || len(seen) < 2 {
		t.Errorf("threads %v, want the first and others", seen)
	}
	for thread, d := range seen {
		if d < 0 {
			t.Errorf("thread %d was delayed for %v", thread, d)
		}
	}
	if err := RunDelays(func(thread int, d time.Duration) {
		if thread == os.Getpid() && d < first {
			t.Errorf("delay went from %v to %v", first, d)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
