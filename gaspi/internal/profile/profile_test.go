package profile

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// TestAnswer asks for one profile of each kind, and for some that cannot be had.
func TestAnswer(t *testing.T) {
	variables := func() ([]byte, error) { return []byte(`{"a": 1}`), nil }
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		question string
		want     string // in the answer
		wrong    string // in the error; empty if there is none
	}{
		{question: "cmdline", want: strings.Join(os.Args, "\x00")},
		{question: "vars", want: `{"a": 1}`},
		{question: "goroutine?debug=1", want: "goroutine profile: total "},
		{question: "heap?gc=1&debug=1", want: "heap profile: "},
		{question: "heap?debug=x", want: "\x1f\x8b"}, // compressed, as without the argument
		{question: "heap?seconds=2", wrong: "of one moment"},
		{question: "profile?seconds=0", wrong: "expected 1 s to 10m0s"},
		{question: "profile?seconds=601", wrong: "expected 1 s to 10m0s"},
		{question: "profile", wrong: "the rank has left the job"},
		{question: "nothing", wrong: "there are profile, allocs"},
		{question: "heap?%", wrong: "invalid URL escape"},
	} {
		got, err := Answer(ended, c.question, variables)
		switch {
		case c.wrong == "" && (err != nil || !bytes.Contains(got, []byte(c.want))):
			t.Errorf("%s: %.80q, %v; want %q", c.question, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: error %v, want %q", c.question, err, c.wrong)
		}
	}
}
