package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-run/internal/live"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// topWord is the first argument by which this program shows what the ranks of a running job do, again and
// again.
const topWord = "top"

// topEvery is the time between two looks. Ranks tell of themselves twice as often.
const topEvery = time.Second

// top shows what the ranks of the job do whose name, or its beginning, is the argument, until the job or the
// user ends it. It returns the exit code.
func top(args []string, stdin, stdout *os.File, say func(string)) int {
	job := ""
	if len(args) > 0 {
		job = args[0]
	}
	if len(args) > 1 {
		say(surplus(topWord, args[1]).Error() + "; see gaspi-run --help")
		return exitUsage
	}
	if !term.IsTerminal(int(stdout.Fd())) {
		say("top: standard output is no terminal; gaspi-run ps says once what the ranks do")
		return exitUsage
	}
	first, err := observe(job)
	if err != nil {
		say("top: " + err.Error())
		return exitFailed
	}
	told := make(chan os.Signal, 8)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGWINCH, syscall.SIGTSTP)
	defer signal.Stop(told)
	s := openScreen(stdin, stdout)
	code, last := s.loop(first, told)
	s.close()
	if last != "" {
		say("top: " + last)
	}
	return code
}

// observe asks the launcher of a job, which asks its other hosts.
func observe(job string) (launcher.JobView, error) {
	ctx, cancel := context.WithTimeout(context.Background(), psPatience)
	defer cancel()
	return launcher.Observe(ctx, job)
}

// A topLook is what observe has returned.
type topLook struct {
	view launcher.JobView
	err  error
}

// loop shows the job of a look until it ends, and returns the exit code and what is left to say.
func (s *screen) loop(now launcher.JobView, told <-chan os.Signal) (code int, last string) {
	var before launcher.JobView
	looks := make(chan topLook, 1)
	next := time.NewTimer(topEvery)
	defer next.Stop()
	for {
		s.draw(before, now)
		select {
		case <-next.C:
			go func() {
				view, err := observe(now.Job)
				looks <- topLook{view, err}
			}()
		case l := <-looks:
			if l.err != nil {
				return 0, "job " + now.Job + " has ended, or cannot be seen any more: " + l.err.Error()
			}
			before, now = now, l.view
			next.Reset(topEvery)
		case key, ok := <-s.keys:
			if !ok {
				s.keys = nil
			}
			if code, ended := s.press(key); ended {
				return code, ""
			}
		case sig := <-told:
			switch sig {
			case syscall.SIGWINCH:
			case syscall.SIGTSTP:
				s.suspend()
			default:
				return 128 + int(sig.(syscall.Signal)), ""
			}
		}
	}
}

// press does what a key says, and reports whether that is to end, with an exit code.
func (s *screen) press(key byte) (code int, ended bool) {
	switch key {
	case 'q', 'Q':
		return 0, true
	case ctrlC:
		return 128 + int(syscall.SIGINT), true
	case ctrlZ:
		s.suspend()
	}
	return 0, false
}

// draw shows what has changed between two looks.
func (s *screen) draw(before, now launcher.JobView) {
	width, height := s.size()
	var b bytes.Buffer
	b.WriteString(home)
	for i, line := range frame(before, now, width, height) {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(eraseLine + line)
	}
	b.WriteString(eraseBelow)
	_, _ = s.out.Write(b.Bytes())
}

// A topRow is what top shows of a rank.
type topRow struct {
	launcher.RankActivity
	known bool    // of the rates
	rate  float64 // bytes per second, written and read
	share float64 // of its time that it waited
}

// present reports whether the rank is part of the job now.
func (r topRow) present() bool {
	return r.State != "not joined" && r.State != "left" && r.State != "gone"
}

// urgency orders ranks: those from which nothing comes first, those that are not there last.
func (r topRow) urgency() int {
	switch {
	case r.Stuck:
		return 0
	case r.present():
		return 1
	}
	return 2
}

// topRows are the ranks of a look: those first that hold up others, as they waited the least.
func topRows(before, now launcher.JobView) []topRow {
	rows := make([]topRow, len(now.Ranks))
	for i, r := range now.Ranks {
		rows[i] = topRow{RankActivity: r}
		if i >= len(before.Ranks) {
			continue
		}
		was := before.Ranks[i]
		if passed := r.Beat.Sub(was.Beat); passed > 0 && !was.Beat.IsZero() {
			rows[i].known = true
			rows[i].share, rows[i].rate = live.Between(&was, &r, passed)
		}
	}
	slices.SortStableFunc(rows, func(a, b topRow) int {
		return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), cmp.Compare(a.share, b.share))
	})
	return rows
}

// frame is what fits into so many columns and lines of what has changed between two looks, of which the
// first may be empty.
func frame(before, now launcher.JobView, width, height int) []string {
	rows := topRows(before, now)
	total := 0.0
	for _, r := range rows {
		total += r.rate
	}
	lines := []string{
		fmt.Sprintf("job %s  %d ranks  %v  %.3f GB/s", now.Job, len(rows), now.Ran.Round(time.Second), total/1e9),
		now.Cause,
	}
	room := max(0, height-len(lines)-1)
	more := 0
	if len(rows) > room {
		more = len(rows) - max(0, room-1)
		rows = rows[:max(0, room-1)]
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	clocks := slices.ContainsFunc(now.Ranks, func(r launcher.RankActivity) bool { return r.Clock > 0 })
	clock := ""
	if clocks {
		clock = "CLOCK\t"
	}
	fmt.Fprintln(table, "RANK\tHOST\tSTATE\tWAITS\tGB/S\t"+clock+"FOR\tCALL")
	for _, r := range rows {
		waits, rate, call := "-", "-", cmp.Or(r.Call, r.Why)
		if r.known && r.present() {
			waits, rate = percent(r.share), fmt.Sprintf("%.3f", r.rate/1e9)
		}
		if r.Place != "" {
			call += ", " + r.Place
		}
		if clocks {
			clock = clockOf(r.RankActivity) + "\t"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s%.1f s\t%s\n", r.Rank, r.Host, r.State, waits, rate, clock, r.Since.Seconds(), dash(call))
	}
	_ = table.Flush() // to memory
	lines = append(lines, strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")...)
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, which waited for longer", more))
	}
	for i := range lines {
		lines[i] = fit(lines[i], width)
	}
	return lines[:min(len(lines), height)]
}

// clockOf is the clock of the stale-synchronous reduction of a rank.
func clockOf(r launcher.RankActivity) string {
	if r.Clock == 0 {
		return "-"
	}
	return strconv.FormatUint(r.Clock, 10)
}

// fit is the beginning of a line that a terminal of so many columns shows as it is.
func fit(line string, width int) string {
	var b strings.Builder
	for _, c := range line {
		if width--; width < 0 {
			break
		}
		if !unicode.IsPrint(c) {
			c = '?'
		}
		b.WriteRune(c)
	}
	return strings.TrimRight(b.String(), " ")
}

// noTerminal says why --watch shows nothing.
const noTerminal = "--watch: standard error is no terminal, so nothing is shown there; gaspi-run top shows the ranks in another one"
