package policy

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// ended is the end of a rank whose pid is 100 more than its number, after as many seconds.
func ended(r base.Rank, exit process.Exit) supervise.RankEnded {
	return supervise.RankEnded{Rank: r, PID: 100 + int(r), Exit: exit, After: time.Duration(r) * time.Second}
}

// lines writes actions, one on a line.
func lines(actions []any) string {
	var b strings.Builder
	for _, a := range actions {
		if w, ok := a.(Weigh); ok {
			fmt.Fprintf(&b, "Weigh rank %d\n", w.Exit.Rank)
			continue
		}
		fmt.Fprintf(&b, "%s %+v\n", strings.TrimPrefix(fmt.Sprintf("%T", a), "policy."), a)
	}
	return b.String()
}

// TestPolicy has a job of three ranks on two sites meet events, each 10 s after the start of
// the job. Both sites have started.
func TestPolicy(t *testing.T) {
	died, failed, well := process.Exit{Signal: syscall.SIGSEGV, Core: true}, process.Exit{Status: 3}, process.Exit{}
	for _, c := range []struct {
		name    string
		rules   Rules
		events  []any
		want    string
		code    int
		verdict string // the sentence
	}{
		{
			name: "all end well", events: []any{ended(1, well), ended(0, well), ended(2, well)},
			want: `
				LogLine {Line:rank 1 (pid 101) exited with status 0 after 1.0 s}
				Announce {Failure:{Rank:1 Left:true Reason:exit status 0}}
				LogLine {Line:rank 0 (pid 100) exited with status 0 after 0.0 ms}
				Announce {Failure:{Rank:0 Left:true Reason:exit status 0}}
				LogLine {Line:rank 2 (pid 102) exited with status 0 after 2.0 s}
				Announce {Failure:{Rank:2 Left:true Reason:exit status 0}}`,
		},
		{
			name: "a rank fails, and another because of that", events: []any{ended(2, died), LossWeighed{Rank: 2}, NoticeDue{}, ended(1, failed), GraceOver{}},
			want: `
				LogLine {Line:rank 2 (pid 102) was killed by signal 11 (segmentation fault) and dumped core after 2.0 s}
				Announce {Failure:{Rank:2 Left:false Reason:killed by signal 11}}
				Weigh rank 2
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}
				Say {Sentence:rank 2 (pid 102) was killed by signal 11 (segmentation fault) and dumped core after 2.0 s; waiting for the other 2 ranks to end}
				LogLine {Line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				Announce {Failure:{Rank:1 Left:false Reason:exit status 3}}
				LogLine {Line:killing the ranks that are still running}
				SignalRanks {Signal:killed}`,
			code: 139, verdict: "rank 2 (pid 102) was killed by signal 11 (segmentation fault) and dumped core after 2.0 s; ended the other 2 ranks",
		},
		{
			name: "a rank fails that had lost another", events: []any{ended(1, failed), LossWeighed{1, "it had lost rank 0 (no answer)"}},
			want: `
				LogLine {Line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				Announce {Failure:{Rank:1 Left:false Reason:exit status 3}}
				Weigh rank 1
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 3, verdict: "rank 1 (pid 101) exited with status 3 after 1.0 s, once it had lost rank 0 (no answer); ended the other 2 ranks",
		},
		{
			name: "stacks come first", rules: Rules{Stacks: true}, events: []any{TimedOut{}, StacksGathered{"all are there"}},
			want: `
				TellLater {After:1s}
				GatherStacks {}
				Say {Sentence:all are there}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 124, verdict: "timed out after 0s; ended the 3 ranks",
		},
		{
			name: "without grace", rules: Rules{KillGrace: -1}, events: []any{ended(1, failed), LossWeighed{Rank: 1}},
			want: `
				LogLine {Line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				Announce {Failure:{Rank:1 Left:false Reason:exit status 3}}
				Weigh rank 1
				TellLater {After:1s}
				SignalRanks {Signal:killed}`,
			code: 3, verdict: "rank 1 (pid 101) exited with status 3 after 1.0 s; ended the other 2 ranks",
		},
		{
			name: "the others go on, and are interrupted", rules: Rules{Continue: true}, events: []any{ended(1, failed), LossWeighed{Rank: 1}, UserSignal{syscall.SIGINT}, NoticeDue{}},
			want: `
				LogLine {Line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				Announce {Failure:{Rank:1 Left:false Reason:exit status 3}}
				Weigh rank 1
				Say {Sentence:rank 1 (pid 101) exited with status 3 after 1.0 s; the other 2 ranks go on}
				TellLater {After:1s}
				SignalRanks {Signal:interrupt}
				SignalRanks {Signal:continued}
				KillLater {After:5s}
				Say {Sentence:interrupted by SIGINT after 10.0 s; waiting for the 2 ranks to end}`,
			code: 3, verdict: "interrupted by SIGINT after 10.0 s; ended the 2 ranks",
		},
		{
			name: "the last rank fails", rules: Rules{Continue: true}, events: []any{ended(0, well), ended(1, well), ended(2, failed), LossWeighed{Rank: 2}},
			want: `
				LogLine {Line:rank 0 (pid 100) exited with status 0 after 0.0 ms}
				Announce {Failure:{Rank:0 Left:true Reason:exit status 0}}
				LogLine {Line:rank 1 (pid 101) exited with status 0 after 1.0 s}
				Announce {Failure:{Rank:1 Left:true Reason:exit status 0}}
				LogLine {Line:rank 2 (pid 102) exited with status 3 after 2.0 s}
				Announce {Failure:{Rank:2 Left:false Reason:exit status 3}}
				Weigh rank 2
				Say {Sentence:rank 2 (pid 102) exited with status 3 after 2.0 s}`,
			code: 3, verdict: "rank 2 (pid 102) exited with status 3 after 2.0 s",
		},
		{
			name: "an end is told twice", events: []any{ended(1, well), ended(1, failed)},
			want: `
				LogLine {Line:rank 1 (pid 101) exited with status 0 after 1.0 s}
				Announce {Failure:{Rank:1 Left:true Reason:exit status 0}}`,
		},
		{
			name: "an end that nobody saw", events: []any{supervise.RankEnded{Rank: 1, PID: 101, Problem: "no such process"}},
			want: `
				LogLine {Line:rank 1 (pid 101) is gone: its end cannot be seen: no such process after 0.0 ms}
				Announce {Failure:{Rank:1 Left:false Reason:its end cannot be seen: no such process}}
				Weigh rank 1`,
		},
		{
			name: "interrupted twice", events: []any{UserSignal{syscall.SIGTERM}, UserSignal{syscall.SIGTERM}},
			want: `
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}
				SignalRanks {Signal:killed}`,
			code: 143, verdict: "interrupted by SIGTERM after 10.0 s; ended the 3 ranks",
		},
		{
			name: "interrupted while ranks are ended", events: []any{TimedOut{}, UserSignal{syscall.SIGINT}}, rules: Rules{Timeout: time.Minute},
			want: `
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}
				SignalRanks {Signal:interrupt}`,
			code: 124, verdict: "timed out after 1m0s; ended the 3 ranks",
		},
		{
			name: "suspended and continued", events: []any{UserSignal{syscall.SIGTSTP}, UserSignal{syscall.SIGCONT}, UserSignal{syscall.SIGUSR1}, UserSignal{syscall.SIGPIPE}},
			want: `
				SignalRanks {Signal:stopped}
				Suspend {}
				Resume {}
				SignalRanks {Signal:continued}
				SignalRanks {Signal:user defined signal 1}`,
		},
		{
			name: "the caller ends the job", events: []any{ContextEnded{errors.New("enough")}},
			want: `
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 1, verdict: "stopped: enough; ended the 3 ranks",
		},
		{
			name: "nobody reads", events: []any{OutputFailed{syscall.EPIPE}, NoticeDue{}},
			want: `
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 141, verdict: "cannot write the output: broken pipe; ended the 3 ranks",
		},
		{
			name: "nobody has read", rules: Rules{Stacks: true}, events: []any{
				supervise.RankEnded{Rank: 0}, supervise.RankEnded{Rank: 1}, supervise.RankEnded{Rank: 2}, OutputFailed{syscall.ENOSPC},
			},
			want: `
				Announce {Failure:{Rank:0 Left:false Reason:it was not started}}
				Announce {Failure:{Rank:1 Left:false Reason:it was not started}}
				Announce {Failure:{Rank:2 Left:false Reason:it was not started}}
				TellLater {After:1s}`,
			code: 1, verdict: "cannot write the output: no space left on device",
		},
		{
			name: "a host is lost", events: []any{
				SiteLost{"host b is lost", []supervise.RankEnded{{Rank: 1, PID: 101, Lost: "host b is lost"}, {Rank: 2, PID: 102, Lost: "host b is lost"}}},
				SiteLost{"host b is lost again", []supervise.RankEnded{{Rank: 1}}},
			},
			want: `
				LogLine {Line:rank 1 (pid 101) is gone: host b is lost after 0.0 ms}
				Announce {Failure:{Rank:1 Left:false Reason:host b is lost}}
				LogLine {Line:rank 2 (pid 102) is gone: host b is lost after 0.0 ms}
				Announce {Failure:{Rank:2 Left:false Reason:host b is lost}}
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}
				LogLine {Line:host b is lost again}`,
			code: 1, verdict: "host b is lost after 10.0 s; ended the other rank",
		},
		{
			name: "ranks that stand still or are missing", events: []any{
				supervise.RankStopped{Rank: 1, PID: 101, Sig: syscall.SIGSTOP, Limit: 4 * time.Second}, supervise.RankStopped{Rank: 1, PID: 101, Sig: syscall.SIGSTOP}, Notice{"waiting for rank 2"},
				ContextEnded{errors.New("enough")}, supervise.RankStopped{Rank: 1, PID: 101, Sig: syscall.SIGSTOP},
			},
			want: `
				Say {Sentence:rank 1 (pid 101) is stopped by signal 19 (stopped (signal)); it is killed if it does not go on within 4 s}
				Say {Sentence:rank 1 (pid 101) is stopped by signal 19 (stopped (signal))}
				Say {Sentence:waiting for rank 2}
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 1, verdict: "stopped: enough; ended the 3 ranks",
		},
		{
			name: "another node gives up", events: []any{NodeDemands{"node 1", 0, 7, "cannot write"}},
			want: `
				TellLater {After:1s}
				SignalRanks {Signal:terminated}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 7, verdict: "cannot write at node 1; ended the 3 ranks",
		},
		{
			name: "another node is interrupted", events: []any{NodeDemands{"node 1", syscall.SIGINT, 0, ""}},
			want: `
				TellLater {After:1s}
				SignalRanks {Signal:interrupt}
				SignalRanks {Signal:continued}
				KillLater {After:5s}`,
			code: 130, verdict: "interrupted by SIGINT at node 1 after 10.0 s; ended the 3 ranks",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rules.Ranks = 3
			if c.rules.KillGrace == 0 {
				c.rules.KillGrace = 5 * time.Second
			}
			p := New(c.rules)
			var got strings.Builder
			for _, e := range c.events {
				got.WriteString(lines(p.Decide(e, 10*time.Second)))
			}
			want := strings.ReplaceAll(strings.TrimPrefix(c.want, "\n"), "\t", "") + "\n"
			if d := cmp.Diff(want, got.String()); d != "" {
				t.Errorf("actions (-want +got):\n%s", d)
			}
			if code, sentence, err := p.Verdict(); code != c.code || sentence != c.verdict || err != nil {
				t.Errorf("ends with %d, %q, %v", code, sentence, err)
			}
		})
	}
}

// TestPolicyOfStarts has one site of three fail to start its ranks: those that run are killed,
// and the job is over when all have ended and all sites have answered.
func TestPolicyOfStarts(t *testing.T) {
	p := New(Rules{Ranks: 2})
	p.Begin(3)
	broken := errors.New("no such file")
	var got strings.Builder
	for _, e := range []any{SiteStarted{}, SiteStarted{broken}, supervise.RankEnded{Rank: 0}, ended(1, process.Exit{Signal: syscall.SIGKILL}), SiteStarted{errors.New("another")}} {
		if p.Over() {
			t.Error("the job is over too early")
		}
		got.WriteString(lines(p.Decide(e, time.Second)))
	}
	want := `SignalRanks {Signal:killed}
Announce {Failure:{Rank:0 Left:false Reason:it was not started}}
LogLine {Line:rank 1 (pid 101) was killed by signal 9 (killed) after 1.0 s}
Announce {Failure:{Rank:1 Left:false Reason:killed by signal 9}}
AllStarted {}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
	if !p.Over() || !errors.Is(p.startErr, broken) || p.first != nil {
		t.Errorf("over %t, %v, first %v", p.Over(), p.startErr, p.first)
	}
}

// Goal: a signal for the ranks that comes while they are being started reaches all of them, once.
func TestPolicyHoldsSignalsDuringTheStart(t *testing.T) {
	p := New(Rules{Ranks: 2})
	p.Begin(2)
	var got strings.Builder
	for _, e := range []any{UserSignal{syscall.SIGUSR1}, SiteStarted{}, UserSignal{syscall.SIGUSR1}, SiteStarted{}, UserSignal{syscall.SIGUSR2}} {
		got.WriteString(lines(p.Decide(e, time.Second)))
	}
	want := `AllStarted {}
SignalRanks {Signal:user defined signal 1}
SignalRanks {Signal:user defined signal 1}
SignalRanks {Signal:user defined signal 2}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
}

// Goal: SIGQUIT asks what the ranks do, also while they are being started; a second one that comes
// soon is for the ranks.
func TestPolicyLooksOnQuit(t *testing.T) {
	p := New(Rules{Ranks: 2})
	p.Begin(1)
	var got strings.Builder
	for _, at := range []time.Duration{10, 10.5 * 1e9, 12 * 1e9, 20 * 1e9, 25 * 1e9} {
		got.WriteString(lines(p.Decide(UserSignal{syscall.SIGQUIT}, at)))
	}
	got.WriteString(lines(p.Decide(Notice{"all is well"}, time.Minute)))
	want := `Look {}
Look {}
SignalRanks {Signal:quit}
Look {}
Look {}
Say {Sentence:all is well}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
}

// TestPolicyAsksForStacks asks on SIGQUIT and when a wait lasts, and leaves the ranks alone.
func TestPolicyAsksForStacks(t *testing.T) {
	p := New(Rules{Ranks: 2, Stacks: true})
	got := lines(p.Decide(UserSignal{syscall.SIGQUIT}, time.Second)) + lines(p.Decide(Stalled{Cause: "c", Details: "d"}, time.Minute)) +
		lines(p.Decide(StacksGathered{"all are there"}, time.Minute))
	want := `Look {}
GatherStacks {}
Say {Sentence:no progress for 0.0 ms: c
d}
GatherStacks {}
Say {Sentence:all are there}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
}

func TestPolicyOfStalls(t *testing.T) {
	event := Stalled{After: time.Minute, Cause: "rank 1 computes", Details: "a table"}
	const said = "Say {Sentence:no progress for 1m0s: rank 1 computes\na table}\n"
	for abort, want := range map[bool]string{
		false: said,
		true: said + `TellLater {After:1s}
SignalRanks {Signal:terminated}
SignalRanks {Signal:continued}
KillLater {After:5s}
`,
	} {
		p := New(Rules{Ranks: 2, StallAbort: abort, KillGrace: 5 * time.Second})
		if d := cmp.Diff(want, lines(p.Decide(event, time.Hour))); d != "" {
			t.Errorf("abort %t (-want +got):\n%s", abort, d)
		}
		if abort != (p.cause != nil && p.cause.code == 124 && p.cause.sentence(false) == "no progress for 1m0s: rank 1 computes; waiting for the 2 ranks to end") {
			t.Errorf("abort %t: %+v", abort, p.cause)
		}
		if again := lines(p.Decide(event, time.Hour)); abort != (again == "") {
			t.Errorf("abort %t, once more: %s", abort, again)
		}
	}
}
