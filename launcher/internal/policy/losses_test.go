package policy

import (
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
)

func TestLosses(t *testing.T) {
	silent := func(r base.Rank) boot.Failure { return boot.Failure{Rank: r, Reason: "no answer"} }
	cases := []struct {
		name string
		do   func(l *Losses)
		exit RankExit
		want string
	}{
		{"none", func(*Losses) {}, RankExit{Rank: 4, Status: 1}, ""},
		{"of others", func(l *Losses) { l.Note(2, silent(0)); l.Note(0, silent(2)) }, RankExit{Rank: 4, Status: 1}, "rank 2 had lost rank 0 (no answer)"},
		{"its own", func(l *Losses) { l.Note(2, silent(0)) }, RankExit{Rank: 2, Status: 1}, "it had lost rank 0 (no answer)"},
		{"of itself", func(l *Losses) { l.Note(2, silent(0)); l.Note(0, silent(2)); l.Seen(0) }, RankExit{Rank: 0, Status: 1}, "it had lost rank 2 (no answer)"},
		{"first of two", func(l *Losses) { l.Note(3, silent(0)); l.Note(2, silent(0)) }, RankExit{Rank: 4, Status: 1}, "rank 3 had lost rank 0 (no answer)"},
		{"explained by an end", func(l *Losses) { l.Note(2, silent(0)); l.Seen(0); l.Note(3, silent(0)) }, RankExit{Rank: 4, Status: 1}, ""},
		{"of one that had ended", func(l *Losses) { l.Seen(0); l.Note(2, silent(0)) }, RankExit{Rank: 4, Status: 1}, ""},
		{"of one that is being ended", func(l *Losses) { l.Stop(); l.Note(2, silent(0)) }, RankExit{Rank: 4, Status: 1}, ""},
		{"that killed nobody", func(l *Losses) { l.Note(2, silent(0)) }, RankExit{Rank: 4, Signal: syscall.SIGSEGV}, ""},
		{"but the host is gone", func(l *Losses) { l.Note(2, silent(0)) }, RankExit{Rank: 4, Status: 1, Lost: "host b is lost"}, ""},
	}
	for _, c := range cases {
		l := NewLosses(5)
		c.do(l)
		if got := l.Behind(c.exit); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
