package supervise

import (
	"errors"
	"testing"
)

// TestProbeThatFails counts for nothing but a sentence.
func TestProbeThatFails(t *testing.T) {
	if p := openProbe(Task{}); p.missing != "" {
		t.Errorf("%q without being wanted", p.missing)
	}
	if p := openProbe(Task{Measure: true}); p.missing != errNoProbe.Error() {
		t.Errorf("%q without a prober", p.missing)
	}
	p := openProbe(Task{Measure: true, Probe: func() (Prober, error) { return nil, errors.New("no right") }})
	p.add(1)
	p.close()
	if p.missing != "no right" {
		t.Errorf("%q of a prober that cannot be opened", p.missing)
	}
}
