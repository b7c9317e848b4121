package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// Patience with launchers.
const (
	startPatience = 30 * time.Second       // until the first point begins, and
	rankPatience  = 500 * time.Millisecond // for each rank: 256 of Open MPI on 2 cores take over a minute to start
	endPatience   = 2 * time.Second        // after the last one: MPICH may hang when it finalizes
	killPatience  = 5 * time.Second        // for ranks to be gone that were told to end
)

// Run measures the points of a job, and returns when its processes are gone. It
// calls begin when a point begins, and result when it is done, in the order of
// points. A point that is over the limit or fails, by a crash or a wrong result,
// has that as its result; the points after it are measured by a fresh job. It is
// an error if no point begins at all. When ctx ends first, Run returns its error, and the point that
// had begun has no result.
func (p *Peer) Run(ctx context.Context, j Job, begin func(point int), result func(PointResult)) error {
	done := 0
	for done < len(j.Points) {
		rest := j
		rest.Points = j.Points[done:]
		a := attempt{job: rest, begin: begin, result: result, first: done, current: -1}
		if err := a.run(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.library.title, err)
		}
		done += a.ended
	}
	return nil
}

// An attempt is one run of the program.
type attempt struct {
	job    Job
	begin  func(int)
	result func(PointResult)
	first  int // index of its first point in the job as a whole

	current int           // the point that has begun, or -1
	used    time.Duration // processor time of the point that has begun
	ended   int           // points with a result
	done    bool
}

func (a *attempt) run(ctx context.Context, p *Peer) error {
	l, err := p.launch(ctx, a.job)
	if err != nil {
		return err
	}
	// The program shall end with this process, and the system ends it with the
	// thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := command(running, p.launcher, l, a.job.Congestion)
	var said bytes.Buffer
	cmd.Stderr = &said
	// An end of the pipe of our own: Wait must not close it before all is read.
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout = in
	cmd.Env = append(cmd.Env, Began(time.Now()))
	err = cmd.Start()
	in.Close()
	if err != nil {
		return err
	}
	err = a.follow(running, readLines(running, out))
	if errors.Is(err, errEnded) {
		// It has closed its output, and is about to say how it ended.
		defer time.AfterFunc(endPatience, stop).Stop()
	} else {
		stop()
	}
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil: // which ended the program, whichever of both follow has seen first
		return ctx.Err()
	case !errors.Is(err, errEnded):
		return err
	}
	return a.failed(ended, reason(said.String()))
}

// failed is what follows from the end of the program.
func (a *attempt) failed(ended error, said string) error {
	if ended == nil {
		ended = errors.New("exit status 0")
	}
	switch {
	case a.done || a.ended == len(a.job.Points):
		return nil
	case a.current < 0 && a.ended == 0:
		return fmt.Errorf("it ended before its first point began: %w: %s", ended, said)
	}
	a.result(PointResult{Point: a.first + a.ended, Failed: fmt.Sprintf("%v: %s", ended, said)})
	a.ended++
	return nil
}

// command is the command of a launch. When ctx ends it is told to end its ranks
// and then itself, and killed if it does not.
func command(ctx context.Context, launcher string, l launch, congestion string) *exec.Cmd {
	name, args := launcher, l.args
	attr := &syscall.SysProcAttr{}
	process.DieWithParent(attr, syscall.SIGTERM)
	var err error
	if congestion != "" {
		name, args = isolated(congestion, launcher, args)
		err = process.OwnNetwork(attr)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), l.env...)
	cmd.SysProcAttr = attr
	cmd.Err = errors.Join(cmd.Err, err)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killPatience
	return cmd
}

// errEnded says that there will be no more lines.
var errEnded = errors.New("the program has ended")

// follow reads what the program prints until there is nothing more to expect from
// it: it is done, has ended, or a point is over its limit.
func (a *attempt) follow(ctx context.Context, lines <-chan string) error {
	first := max(startPatience+time.Duration(a.job.Ranks)*rankPatience, a.job.Limit)
	patience := time.NewTimer(first)
	defer patience.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return errEnded
			}
			if err := a.take(line); err != nil {
				return err
			}
			if a.done {
				patience.Reset(endPatience)
			} else {
				patience.Reset(a.job.Limit)
			}
		case <-patience.C:
			switch {
			case a.done:
				return nil
			case a.current < 0 && a.ended == 0:
				return fmt.Errorf("no point began within %v; is the machine busy, or the launcher waiting for a network?", first)
			}
			a.result(PointResult{Point: a.first + a.ended, OverLimit: true})
			a.ended++
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take is one line of the program.
func (a *attempt) take(text string) error {
	l, err := parseLine(text)
	if err != nil {
		return err
	}
	switch l.kind {
	case lineStart, lineUsed, lineTimes:
		if l.point != a.ended || l.point >= len(a.job.Points) {
			return fmt.Errorf("it went on with point %d, want %d", l.point, a.ended)
		}
		switch l.kind {
		case lineStart:
			a.current, a.used = l.point, 0
			a.begin(a.first + l.point)
			return nil
		case lineUsed:
			a.used = l.processors
			return nil
		}
		a.result(PointResult{Point: a.first + l.point, Operations: l.operations, Blocks: l.blocks, Processors: a.used})
		a.ended++
		a.current = -1
	case lineDone:
		a.done = true
	}
	return nil
}

// readLines reads lines until the program ends or nobody wants any more.
func readLines(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(r)
		const longest = 1 << 20 // a line of times holds some thousands
		scan.Buffer(nil, longest)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
