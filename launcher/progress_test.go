package launcher

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// begunSite is a site that has started so many ranks.
type begunSite struct {
	site
	ranks int
}

func (s begunSite) begunRanks() int { return s.ranks }

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name     string
		terminal bool
		want     string
	}{
		{"lines", false, "notice: started 7 of 9 ranks\nnotice: started 8 of 9 ranks\n"},
		{"terminal", true, "started 7 of 9 ranks" + eraseLine + "started 8 of 9 ranks" + eraseLine},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text capture
			j := &job{cfg: Config{Ranks: 9, Stdout: &text, Stderr: &text}}
			j.cfg.Notice = func(s string) { text.Write([]byte("notice: " + s + "\n")) }
			var err error
			if j.output, err = newOutput(j.cfg); err != nil {
				t.Fatal(err)
			}
			if c.terminal {
				j.output.stderr.width = func() int { return 80 }
			}
			var p startProgress
			p.begin(j)
			for _, ranks := range []int{3, 4} {
				j.sites = []site{begunSite{ranks: 4}, begunSite{ranks: ranks}}
				p.show()
				<-j.output.settled()
			}
			p.end()
			p.end()
			if d := cmp.Diff(c.want, text.String()); d != "" || p.due != nil {
				t.Errorf("due %v (-want +got):\n%s", p.due, d)
			}
		})
	}
}
