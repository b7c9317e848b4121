package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/mf"
	"golang.org/x/term"
)

// A progressLine shows how a run goes: on a terminal one line that changes, anywhere
// else a new line about every second.
type progressLine struct {
	out   io.Writer
	tty   bool
	width int // columns of the terminal; 0 if unknown
	plan  mf.RunOptions

	next  time.Duration // when to show again, since the run began
	shown int           // the iteration shown last
	drawn int           // length of the line on the terminal
}

// terminal reports whether a line written to out may be rewritten, and how wide
// it may be. Under gaspi-run the output is a pipe; the launcher says in the
// environment what is at its other end. An error names the variable that makes no sense.
func terminal(out *os.File, getenv func(string) string) (tty bool, width int, err error) {
	const envTTY, envWidth = "GASPI_OUTPUT_TTY", "GASPI_OUTPUT_WIDTH"
	if text := getenv(envWidth); text != "" {
		if width, err = strconv.Atoi(text); err != nil || width < 1 {
			return false, 0, fmt.Errorf("%s=%.80q: expected the columns of a line, a number from 1", envWidth, text)
		}
	}
	switch text := getenv(envTTY); text {
	case "1":
		return true, width, nil
	case "0":
		return false, 0, nil
	case "":
	default:
		return false, 0, fmt.Errorf("%s=%.80q: expected 1 if the output ends on a terminal, or 0", envTTY, text)
	}
	if !term.IsTerminal(int(out.Fd())) {
		return false, 0, nil
	}
	if width, _, err = term.GetSize(int(out.Fd())); err != nil {
		width = 0 // unknown
	}
	return true, width, nil
}

// observe shows an iteration if it is time to.
func (p *progressLine) observe(iteration int, s mf.Sample) {
	if s.Elapsed < p.next && iteration > 1 {
		return
	}
	p.show(iteration, s)
	if p.tty {
		p.next = s.Elapsed + 100*time.Millisecond
		return
	}
	// Intervals that grow with the run bound the lines of a run of hours to some
	// hundreds.
	p.next = s.Elapsed + max(time.Second, s.Elapsed/20)
}

// finish shows the last iteration and ends the line.
func (p *progressLine) finish(samples []mf.Sample) {
	if n := len(samples); n > p.shown {
		p.show(n, samples[n-1])
	}
	if p.tty && p.drawn > 0 {
		fmt.Fprintln(p.out)
		p.drawn = 0
	}
}

// show writes one line.
func (p *progressLine) show(iteration int, s mf.Sample) {
	p.shown = iteration
	line := p.line(iteration, s)
	if !p.tty {
		fmt.Fprintln(p.out, line)
		return
	}
	// A line that fills the width would wrap and could not be rewritten.
	if p.width > 1 && len(line) >= p.width {
		line = line[:p.width-1]
	}
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.drawn-len(line))))
	p.drawn = len(line)
}

// line says how far the run is.
func (p *progressLine) line(iteration int, s mf.Sample) string {
	perSecond := float64(iteration) / max(s.Elapsed.Seconds(), 1e-9)
	head := fmt.Sprintf("slack %d  iteration %*d", p.plan.Slack, len(strconv.Itoa(p.plan.Iterations)), iteration)
	if p.plan.UntilRMSE > 0 {
		return fmt.Sprintf("%s  held-out RMSE %.4f, to reach %g  %.1f iterations/s", head, s.RMSE, p.plan.UntilRMSE, perSecond)
	}
	left := time.Duration(float64(p.plan.Iterations-iteration) / perSecond * float64(time.Second))
	return fmt.Sprintf("%s/%d  held-out RMSE %.4f  %.1f iterations/s  %s left", head, p.plan.Iterations, s.RMSE, perSecond, roundLeft(left))
}

// roundLeft drops what nobody can predict.
func roundLeft(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
