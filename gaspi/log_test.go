package gaspi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// playTalk passes a barrier.
func playTalk(ctx context.Context, p *gaspi.Proc, _ []string) error { return p.Barrier(ctx, p.World()) }

// Goal: GASPI_LOG makes ranks say how they are connected, as much as it asks for and no more, without
// a change of the program.
func TestLogOfProcesses(t *testing.T) {
	for _, c := range []struct {
		log                string
		joined, reaches, n int // lines of each kind at least; lines of ranks other than 0 at least
	}{
		{"", 0, 0, 0}, {"info", 1, 1, 0}, {"info,coll", 0, 0, 0}, {"info,job", 1, 0, 0}, {"debug,boot", 0, 3, 2}, {"debug", 3, 3, 4},
	} {
		t.Run(c.log, func(t *testing.T) {
			o := ranktest.Succeeds(t, launcher.Config{Ranks: 3, Transport: "shm", Env: []string{"GASPI_LOG=" + c.log}}, "talk")
			joined, reaches := strings.Count(o.Stderr, `msg="gaspi: joined"`), strings.Count(o.Stderr, `msg="gaspi: reaches"`)
			others := strings.Count(o.Stderr, "[1]") + strings.Count(o.Stderr, "[2]")
			if (joined > 0) != (c.joined > 0) || joined < c.joined || (reaches > 0) != (c.reaches > 0) || reaches < c.reaches || (others > 0) != (c.n > 0) || others < c.n {
				t.Errorf("%d joined, %d reach others, %d of other ranks:\n%s", joined, reaches, others, o.Stderr)
			}
		})
	}
}
