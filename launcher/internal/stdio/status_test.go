package stdio

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStatus shows a line that is rewritten on a terminal, below what ranks print there, and
// nothing elsewhere.
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		name     string
		terminal bool
		want     string
	}{
		{"file", false, "[0] one\n"},
		{"terminal", true, "7 of 9" + eraseLine + "[0] one\n7 of 9" + eraseLine + "8 of 9" + eraseLine},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text bytes.Buffer
			o, err := Open(Destination{Stdout: &text, Stderr: &text})
			if err != nil {
				t.Fatal(err)
			}
			if c.terminal {
				o.stderr.width = func() int { return 80 }
			}
			out, err := o.Sink(0, "stdout")
			if err != nil {
				t.Fatal(err)
			}
			shown := []bool{o.Status("7 of 9")}
			out.Feed([]byte("one\n"))
			for _, line := range []string{"8 of 9", "", ""} {
				shown = append(shown, o.Status(line))
			}
			if d := cmp.Diff(c.want, text.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff([]bool{c.terminal, c.terminal, c.terminal, c.terminal}, shown); d != "" {
				t.Errorf("a terminal is there (-want +got):\n%s", d)
			}
		})
	}
}
