package launcher

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/google/go-cmp/cmp"
)

// begunSite is a site that has started so many ranks.
type begunSite struct {
	site
	ranks int
}

func (s begunSite) Begun() int { return s.ranks }

// TestProgress has no terminal, for which package stdio has its test.
func TestProgress(t *testing.T) {
	var text capture
	j := &job{cfg: Config{Ranks: 9, Stdout: &text, Stderr: &text}}
	j.cfg.Notice = func(s string) { text.Write([]byte(s + "\n")) }
	var err error
	if j.output, err = stdio.Open(j.cfg.stdio()); err != nil {
		t.Fatal(err)
	}
	var p startProgress
	p.begin(j)
	for _, ranks := range []int{3, 4} {
		j.sites = []site{begunSite{ranks: 4}, begunSite{ranks: ranks}}
		p.show()
		<-j.output.Settled()
		if p.due == nil {
			t.Error("the next line is not due")
		}
	}
	p.end()
	p.end()
	if d := cmp.Diff("started 7 of 9 ranks\nstarted 8 of 9 ranks\n", text.String()); d != "" || p.due != nil {
		t.Errorf("due %v (-want +got):\n%s", p.due, d)
	}
	if c := testenv.Complaints(text.String()); c != "" {
		t.Errorf("tests take %q for a complaint", c)
	}
}
