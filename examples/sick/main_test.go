package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const program = "program" // the role in which the test program is the example itself

func TestMain(m *testing.M) {
	testenv.Main(testenv.Waiting{M: m}, map[string]testenv.Role{program: testenv.Program(main)})
}

// eachWay runs a test for jobs of several sizes and transports.
func eachWay(t *testing.T, test func(t *testing.T, ranks int, transport string)) {
	for _, transport := range []string{"shm", "tcp"} {
		for _, n := range []int{4, 16} {
			t.Run(fmt.Sprintf("%s/%d", transport, n), func(t *testing.T) {
				t.Parallel()
				test(t, n, transport)
			})
		}
	}
}

// reported runs a program until a report begins with a line that matches, and returns the report.
func reported(t *testing.T, ranks int, transport, name, first string) string {
	t.Helper()
	ctx, found := context.WithCancel(testenv.Context(t))
	defer found()
	pattern := regexp.MustCompile(first)
	var mu sync.Mutex
	var all, report string
	cfg := launcher.Config{
		Program: "/proc/self/exe", Args: []string{name}, Ranks: ranks, Transport: transport,
		Env: []string{testenv.AsRole(program)}, Stdout: io.Discard, Stderr: io.Discard,
		StallTimeout: time.Second, // the second report comes after two, and so on
		Notice: func(sentence string) {
			mu.Lock()
			defer mu.Unlock()
			all += sentence + "\n"
			if line, _, _ := strings.Cut(sentence, "\n"); report == "" && pattern.MatchString(line) {
				report = sentence
				found()
			}
		},
	}
	_, err := launcher.Run(ctx, cfg)
	mu.Lock()
	defer mu.Unlock()
	if report == "" || !errors.Is(err, context.Canceled) {
		t.Fatalf("no line %s: %v\n%s", first, err, all)
	}
	return report
}

const begins = `^no progress for \S+( s)?: `

func TestMismatch(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ranks int, transport string) {
		others := map[int]string{4: "ranks 0, 1 and 3", 16: `ranks 0, 1 and 3-15`}[ranks]
		report := reported(t, ranks, transport, "mismatch",
			begins+`rank 2 is in Proc\.Barrier of world, number 1 \(sick/mismatch\.go:17\), but `+others+
				` are in allreduce \(sum of 1 float64\), call 1 of the team, .*, step \d+ of \d+ \(sick/mismatch\.go:19\): the calls do not match$`)
		if ranks == 4 {
			first, _, _ := strings.Cut(report, "\n")
			inReadme(t, "gaspi-run: "+first)
		}
		if !regexp.MustCompile(`\ncycle: rank 2 -> (rank \d+ -> )+rank 2$`).MatchString(report) {
			t.Error(report)
		}
	})
}

func TestMissing(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ranks int, transport string) {
		report := reported(t, ranks, transport, "missing", begins+fmt.Sprintf(
			`rank 0 waits in Segment\.WaitSome for notification 5 of segment 0 \(sick/missing\.go:21\), and ranks 1-%d, which could end that, wait too$`, ranks-1))
		if ranks == 4 {
			first, _, _ := strings.Cut(report, "\n")
			inReadme(t, "gaspi-run: "+first)
		}
		if !regexp.MustCompile(fmt.Sprintf(`\nranks 1-%d -> rank 0 \(waiting\)\ncycle: rank 0 -> rank 1 -> rank 0$`, ranks-1)).MatchString(report) {
			t.Error(report)
		}
	})
}

func TestSlow(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ranks int, transport string) {
		report := reported(t, ranks, transport, "slow", begins+fmt.Sprintf(
			`rank %d computes, outside of any call that waits, for .*; ranks 0-%d wait for it$`, ranks-1, ranks-2))
		if ranks == 4 {
			first, _, _ := strings.Cut(report, "\n")
			inReadme(t, "gaspi-run: "+first)
		}
		// A barrier is a tree under rank 0 where the ranks are many or meet through sockets.
		if !regexp.MustCompile(fmt.Sprintf(`\nranks (0-%d|(1-%d|1 and %[2]d) -> rank 0) -> rank %d \(computing\)$`,
			ranks-2, ranks-2, ranks-1)).MatchString(report) {
			t.Error(report)
		}
	})
}

func TestDead(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ranks int, transport string) {
		o := ranktest.Run(t, launcher.Config{Ranks: ranks, Transport: transport, Args: []string{"dead"}}, program)
		if ranks == 4 {
			inReadme(t, "gaspi-run: "+o.Sentence)
		}
		want := fmt.Sprintf(`^rank 1 \(pid \d+\) was killed by signal 9 \(killed\) after .*; ended the other %d ranks$`, ranks-1)
		if !regexp.MustCompile(want).MatchString(o.Sentence) || o.ExitCode != 137 {
			t.Errorf("exit code %d, %s\n%s", o.ExitCode, o.Sentence, o.Output)
		}
	})
}

func TestOffset(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ranks int, transport string) {
		o := ranktest.Run(t, launcher.Config{Ranks: ranks, Transport: transport, Args: []string{"offset"}}, program)
		if ranks == 4 {
			_, line, _ := strings.Cut(o.Stderr, "[0] ") // others may lose rank 0, and say so first
			line, _, _ = strings.Cut(line, "\n")
			inReadme(t, "[0] "+line)
			inReadme(t, "gaspi-run: "+o.Sentence)
		}
		if !strings.Contains(o.Stderr, "rank 1 segment 0 [72:+8]") || !strings.HasPrefix(o.Sentence, "rank 0 (pid") || o.ExitCode != 1 {
			t.Errorf("exit code %d, %s\n%s", o.ExitCode, o.Sentence, o.Output)
		}
	})
}

func TestUsage(t *testing.T) {
	o := ranktest.Run(t, launcher.Config{Ranks: 1, Args: []string{"well"}}, program)
	if o.ExitCode != 2 || o.Stderr != "[0] sick: expected one argument of mismatch, missing, slow, dead, offset\n" {
		t.Errorf("exit code %d\n%s", o.ExitCode, o.Output)
	}
}
