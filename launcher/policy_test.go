package launcher

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// ended is the end of a rank whose pid is 100 more than its number, after as many seconds.
func ended(r Rank, exit sys.Exit) supervise.RankEnded {
	return supervise.RankEnded{Rank: r, PID: 100 + int(r), Exit: exit, After: time.Duration(r) * time.Second}
}

// lines writes actions, one on a line.
func lines(actions []action) string {
	var b strings.Builder
	for _, a := range actions {
		text := fmt.Sprintf("%+v", a)
		switch a := a.(type) { // fields that are not exported are printed as numbers
		case signalRanks:
			text = fmt.Sprintf("{signal:%v}", a.signal)
		case killLater:
			text = fmt.Sprintf("{after:%v}", a.after)
		case tellLater:
			text = fmt.Sprintf("{after:%v}", a.after)
		}
		fmt.Fprintf(&b, "%s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", a), "launcher."), text)
	}
	return b.String()
}

// TestPolicy has a job of three ranks on two sites meet events, each 10 s after the start of
// the job. Both sites have started.
func TestPolicy(t *testing.T) {
	died, failed, well := sys.Exit{Signal: syscall.SIGSEGV, Core: true}, sys.Exit{Status: 3}, sys.Exit{}
	for _, c := range []struct {
		name    string
		cfg     Config
		events  []any
		want    string
		code    int
		verdict string // the sentence
	}{
		{
			name: "all end well", events: []any{ended(1, well), ended(0, well), ended(2, well)},
			want: `
				logLine {line:rank 1 (pid 101) exited with status 0 after 1.0 s}
				announce {failure:{Rank:1 Left:true Reason:exit status 0}}
				logLine {line:rank 0 (pid 100) exited with status 0 after 0.0 ms}
				announce {failure:{Rank:0 Left:true Reason:exit status 0}}
				logLine {line:rank 2 (pid 102) exited with status 0 after 2.0 s}
				announce {failure:{Rank:2 Left:true Reason:exit status 0}}`,
		},
		{
			name: "a rank fails, and another because of that", events: []any{ended(2, died), lossWeighed{rank: 2}, noticeDue{}, ended(1, failed), graceOver{}},
			want: `
				logLine {line:rank 2 (pid 102) was killed by signal 11 (segmentation fault) and dumped core after 2.0 s}
				announce {failure:{Rank:2 Left:false Reason:killed by signal 11}}
				weigh {rank:2}
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}
				say {sentence:rank 2 (pid 102) was killed by signal 11 (segmentation fault) and dumped core after 2.0 s; waiting for the other 2 ranks to end}
				logLine {line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				announce {failure:{Rank:1 Left:false Reason:exit status 3}}
				logLine {line:killing the ranks that are still running}
				signalRanks {signal:killed}`,
			code: 139, verdict: "rank 2 (pid 102) was killed by signal 11 (segmentation fault) and dumped core after 2.0 s; ended the other 2 ranks",
		},
		{
			name: "a rank fails that had lost another", events: []any{ended(1, failed), lossWeighed{1, "it had lost rank 0 (no answer)"}},
			want: `
				logLine {line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				announce {failure:{Rank:1 Left:false Reason:exit status 3}}
				weigh {rank:1}
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 3, verdict: "rank 1 (pid 101) exited with status 3 after 1.0 s, once it had lost rank 0 (no answer); ended the other 2 ranks",
		},
		{
			name: "stacks come first", cfg: Config{Stacks: "d"}, events: []any{timedOut{}, stacksGathered{"all are there"}},
			want: `
				tellLater {after:1s}
				gatherStacks {}
				say {sentence:all are there}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 124, verdict: "timed out after 0s; ended the 3 ranks",
		},
		{
			name: "without grace", cfg: Config{KillGrace: -1}, events: []any{ended(1, failed), lossWeighed{rank: 1}},
			want: `
				logLine {line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				announce {failure:{Rank:1 Left:false Reason:exit status 3}}
				weigh {rank:1}
				tellLater {after:1s}
				signalRanks {signal:killed}`,
			code: 3, verdict: "rank 1 (pid 101) exited with status 3 after 1.0 s; ended the other 2 ranks",
		},
		{
			name: "the others go on, and are interrupted", cfg: Config{OnFailure: Continue}, events: []any{ended(1, failed), lossWeighed{rank: 1}, userSignal{syscall.SIGINT}, noticeDue{}},
			want: `
				logLine {line:rank 1 (pid 101) exited with status 3 after 1.0 s}
				announce {failure:{Rank:1 Left:false Reason:exit status 3}}
				weigh {rank:1}
				say {sentence:rank 1 (pid 101) exited with status 3 after 1.0 s; the other 2 ranks go on}
				tellLater {after:1s}
				signalRanks {signal:interrupt}
				signalRanks {signal:continued}
				killLater {after:5s}
				say {sentence:interrupted by SIGINT after 10.0 s; waiting for the 2 ranks to end}`,
			code: 3, verdict: "interrupted by SIGINT after 10.0 s; ended the 2 ranks",
		},
		{
			name: "the last rank fails", cfg: Config{OnFailure: Continue}, events: []any{ended(0, well), ended(1, well), ended(2, failed), lossWeighed{rank: 2}},
			want: `
				logLine {line:rank 0 (pid 100) exited with status 0 after 0.0 ms}
				announce {failure:{Rank:0 Left:true Reason:exit status 0}}
				logLine {line:rank 1 (pid 101) exited with status 0 after 1.0 s}
				announce {failure:{Rank:1 Left:true Reason:exit status 0}}
				logLine {line:rank 2 (pid 102) exited with status 3 after 2.0 s}
				announce {failure:{Rank:2 Left:false Reason:exit status 3}}
				weigh {rank:2}
				say {sentence:rank 2 (pid 102) exited with status 3 after 2.0 s}`,
			code: 3, verdict: "rank 2 (pid 102) exited with status 3 after 2.0 s",
		},
		{
			name: "an end is told twice", events: []any{ended(1, well), ended(1, failed)},
			want: `
				logLine {line:rank 1 (pid 101) exited with status 0 after 1.0 s}
				announce {failure:{Rank:1 Left:true Reason:exit status 0}}`,
		},
		{
			name: "an end that nobody saw", events: []any{supervise.RankEnded{Rank: 1, PID: 101, Problem: "no such process"}},
			want: `
				logLine {line:rank 1 (pid 101) is gone: its end cannot be seen: no such process after 0.0 ms}
				announce {failure:{Rank:1 Left:false Reason:its end cannot be seen: no such process}}
				weigh {rank:1}`,
		},
		{
			name: "interrupted twice", events: []any{userSignal{syscall.SIGTERM}, userSignal{syscall.SIGTERM}},
			want: `
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}
				signalRanks {signal:killed}`,
			code: 143, verdict: "interrupted by SIGTERM after 10.0 s; ended the 3 ranks",
		},
		{
			name: "interrupted while ranks are ended", events: []any{timedOut{}, userSignal{syscall.SIGINT}}, cfg: Config{Timeout: time.Minute},
			want: `
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}
				signalRanks {signal:interrupt}`,
			code: 124, verdict: "timed out after 1m0s; ended the 3 ranks",
		},
		{
			name: "suspended and continued", events: []any{userSignal{syscall.SIGTSTP}, userSignal{syscall.SIGCONT}, userSignal{syscall.SIGUSR1}, userSignal{syscall.SIGPIPE}},
			want: `
				signalRanks {signal:stopped}
				suspend {}
				resume {}
				signalRanks {signal:continued}
				signalRanks {signal:user defined signal 1}`,
		},
		{
			name: "the caller ends the job", events: []any{contextEnded{errors.New("enough")}},
			want: `
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 1, verdict: "stopped: enough; ended the 3 ranks",
		},
		{
			name: "nobody reads", events: []any{outputFailed{syscall.EPIPE}, noticeDue{}},
			want: `
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 141, verdict: "cannot write the output: broken pipe; ended the 3 ranks",
		},
		{
			name: "a host is lost", events: []any{
				siteLost{"host b is lost", []supervise.RankEnded{{Rank: 1, PID: 101, Lost: "host b is lost"}, {Rank: 2, PID: 102, Lost: "host b is lost"}}},
				siteLost{"host b is lost again", []supervise.RankEnded{{Rank: 1}}},
			},
			want: `
				logLine {line:rank 1 (pid 101) is gone: host b is lost after 0.0 ms}
				announce {failure:{Rank:1 Left:false Reason:host b is lost}}
				logLine {line:rank 2 (pid 102) is gone: host b is lost after 0.0 ms}
				announce {failure:{Rank:2 Left:false Reason:host b is lost}}
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}
				logLine {line:host b is lost again}`,
			code: 1, verdict: "host b is lost after 10.0 s; ended the other rank",
		},
		{
			name: "ranks that stand still or are missing", events: []any{
				supervise.RankStopped{Rank: 1, PID: 101, Sig: syscall.SIGSTOP, Limit: 4 * time.Second}, supervise.RankStopped{Rank: 1, PID: 101, Sig: syscall.SIGSTOP}, ranksMissing{"waiting for rank 2"},
				contextEnded{errors.New("enough")}, supervise.RankStopped{Rank: 1, PID: 101, Sig: syscall.SIGSTOP},
			},
			want: `
				say {sentence:rank 1 (pid 101) is stopped by signal 19 (stopped (signal)); it is killed if it does not go on within 4 s}
				say {sentence:rank 1 (pid 101) is stopped by signal 19 (stopped (signal))}
				say {sentence:waiting for rank 2}
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 1, verdict: "stopped: enough; ended the 3 ranks",
		},
		{
			name: "another node gives up", events: []any{nodeDemands{"node 1", demand{Code: 7, What: "cannot write"}}},
			want: `
				tellLater {after:1s}
				signalRanks {signal:terminated}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 7, verdict: "cannot write at node 1; ended the 3 ranks",
		},
		{
			name: "another node is interrupted", events: []any{nodeDemands{"node 1", demand{Signal: int(syscall.SIGINT)}}},
			want: `
				tellLater {after:1s}
				signalRanks {signal:interrupt}
				signalRanks {signal:continued}
				killLater {after:5s}`,
			code: 130, verdict: "interrupted by SIGINT at node 1 after 10.0 s; ended the 3 ranks",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Ranks = 3
			if c.cfg.KillGrace == 0 {
				c.cfg.KillGrace = 5 * time.Second
			}
			p := newPolicy(c.cfg)
			var got strings.Builder
			for _, e := range c.events {
				got.WriteString(lines(p.decide(e, 10*time.Second)))
			}
			want := strings.ReplaceAll(strings.TrimPrefix(c.want, "\n"), "\t", "") + "\n"
			if d := cmp.Diff(want, got.String()); d != "" {
				t.Errorf("actions (-want +got):\n%s", d)
			}
			if v := p.verdict(); v.Code != c.code || v.Sentence != c.verdict {
				t.Errorf("ends with %d, %q", v.Code, v.Sentence)
			}
		})
	}
}

// TestPolicyOfStarts has one site of three fail to start its ranks: those that run are killed,
// and the job is over when all have ended and all sites have answered.
func TestPolicyOfStarts(t *testing.T) {
	p := newPolicy(Config{Ranks: 2})
	p.starting = 3
	broken := errors.New("no such file")
	var got strings.Builder
	for _, e := range []any{siteStarted{}, siteStarted{broken}, supervise.RankEnded{Rank: 0}, ended(1, sys.Exit{Signal: syscall.SIGKILL}), siteStarted{errors.New("another")}} {
		if p.over() {
			t.Error("the job is over too early")
		}
		got.WriteString(lines(p.decide(e, time.Second)))
	}
	want := `signalRanks {signal:killed}
announce {failure:{Rank:0 Left:false Reason:it was not started}}
logLine {line:rank 1 (pid 101) was killed by signal 9 (killed) after 1.0 s}
announce {failure:{Rank:1 Left:false Reason:killed by signal 9}}
allStarted {}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
	if !p.over() || !errors.Is(p.startErr, broken) || p.first != nil {
		t.Errorf("over %t, %v, first %v", p.over(), p.startErr, p.first)
	}
}

// Goal: a signal for the ranks that comes while they are being started reaches all of them, once.
func TestPolicyHoldsSignalsDuringTheStart(t *testing.T) {
	p := newPolicy(Config{Ranks: 2})
	p.starting = 2
	var got strings.Builder
	for _, e := range []any{userSignal{syscall.SIGUSR1}, siteStarted{}, userSignal{syscall.SIGUSR1}, siteStarted{}, userSignal{syscall.SIGUSR2}} {
		got.WriteString(lines(p.decide(e, time.Second)))
	}
	want := `allStarted {}
signalRanks {signal:user defined signal 1}
signalRanks {signal:user defined signal 1}
signalRanks {signal:user defined signal 2}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
}

// Goal: SIGQUIT asks what the ranks do, also while they are being started; a second one that comes
// soon is for the ranks.
func TestPolicyLooksOnQuit(t *testing.T) {
	p := newPolicy(Config{Ranks: 2})
	p.starting = 1
	var got strings.Builder
	for _, at := range []time.Duration{10, 10.5 * 1e9, 12 * 1e9, 20 * 1e9, 25 * 1e9} {
		got.WriteString(lines(p.decide(userSignal{syscall.SIGQUIT}, at)))
	}
	got.WriteString(lines(p.decide(looked{"all is well"}, time.Minute)))
	want := `look {}
look {}
signalRanks {signal:quit}
look {}
look {}
say {sentence:all is well}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
}

// TestPolicyAsksForStacks asks on SIGQUIT and when a wait lasts, and leaves the ranks alone.
func TestPolicyAsksForStacks(t *testing.T) {
	p := newPolicy(Config{Ranks: 2, Stacks: "d"})
	got := lines(p.decide(userSignal{syscall.SIGQUIT}, time.Second)) + lines(p.decide(stalled{cause: "c", details: "d"}, time.Minute)) +
		lines(p.decide(stacksGathered{"all are there"}, time.Minute))
	want := `look {}
gatherStacks {}
say {sentence:no progress for 0.0 ms: c
d}
gatherStacks {}
say {sentence:all are there}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("actions (-want +got):\n%s", d)
	}
}

func TestPolicyOfStalls(t *testing.T) {
	event := stalled{after: time.Minute, cause: "rank 1 computes", details: "a table"}
	const said = "say {sentence:no progress for 1m0s: rank 1 computes\na table}\n"
	for abort, want := range map[bool]string{
		false: said,
		true: said + `tellLater {after:1s}
signalRanks {signal:terminated}
signalRanks {signal:continued}
killLater {after:5s}
`,
	} {
		p := newPolicy(Config{Ranks: 2, StallAbort: abort, KillGrace: DefaultKillGrace})
		if d := cmp.Diff(want, lines(p.decide(event, time.Hour))); d != "" {
			t.Errorf("abort %t (-want +got):\n%s", abort, d)
		}
		if abort != (p.cause != nil && p.cause.code == 124 && p.cause.sentence(false) == "no progress for 1m0s: rank 1 computes; waiting for the 2 ranks to end") {
			t.Errorf("abort %t: %+v", abort, p.cause)
		}
		if again := lines(p.decide(event, time.Hour)); abort != (again == "") {
			t.Errorf("abort %t, once more: %s", abort, again)
		}
	}
}
