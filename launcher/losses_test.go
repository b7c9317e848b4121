package launcher

import (
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

func TestLosses(t *testing.T) {
	silent := func(r Rank) boot.Failure { return boot.Failure{Rank: r, Reason: "no answer"} }
	cases := []struct {
		name string
		do   func(l *losses)
		exit RankExit
		want string
	}{
		{"none", func(*losses) {}, RankExit{Rank: 4, Status: 1}, ""},
		{"of others", func(l *losses) { l.note(2, silent(0)); l.note(0, silent(2)) }, RankExit{Rank: 4, Status: 1}, "rank 2 had lost rank 0 (no answer)"},
		{"its own", func(l *losses) { l.note(2, silent(0)) }, RankExit{Rank: 2, Status: 1}, "it had lost rank 0 (no answer)"},
		{"of itself", func(l *losses) { l.note(2, silent(0)); l.note(0, silent(2)); l.seen(0) }, RankExit{Rank: 0, Status: 1}, "it had lost rank 2 (no answer)"},
		{"first of two", func(l *losses) { l.note(3, silent(0)); l.note(2, silent(0)) }, RankExit{Rank: 4, Status: 1}, "rank 3 had lost rank 0 (no answer)"},
		{"explained by an end", func(l *losses) { l.note(2, silent(0)); l.seen(0); l.note(3, silent(0)) }, RankExit{Rank: 4, Status: 1}, ""},
		{"of one that had ended", func(l *losses) { l.seen(0); l.note(2, silent(0)) }, RankExit{Rank: 4, Status: 1}, ""},
		{"of one that is being ended", func(l *losses) { l.stop(); l.note(2, silent(0)) }, RankExit{Rank: 4, Status: 1}, ""},
		{"that killed nobody", func(l *losses) { l.note(2, silent(0)) }, RankExit{Rank: 4, Signal: syscall.SIGSEGV}, ""},
		{"but the host is gone", func(l *losses) { l.note(2, silent(0)) }, RankExit{Rank: 4, Status: 1, Lost: "host b is lost"}, ""},
	}
	for _, c := range cases {
		l := newLosses(5)
		c.do(l)
		if got := l.behind(c.exit); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
