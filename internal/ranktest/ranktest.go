// Package ranktest starts the ranks of a test: as processes of the test program, by the
// launcher, and as goroutines. Tests import it, and nobody else; what a process does in place
// of its tests is a role of testenv.Main.
package ranktest

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// A JobResult is how a job has ended, and what its ranks have printed, in whole lines with
// their labels.
type JobResult struct {
	launcher.Result
	Stdout, Stderr string
	Output         string // both, and what the launcher has told Log, as it came
}

// Run runs a job whose ranks are processes of the test program that play a role. It adds to
// cfg Program, the role to Env, and testenv.Limit as Timeout if that is 0; contexts of ranks end
// before. Where cfg has Stdout, Stderr or Log, they are given the same as JobResult. Run ends the
// test if the job could not be started.
func Run(t testing.TB, cfg launcher.Config, role string, args ...string) JobResult {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = testenv.Limit(t)
	}
	cfg.Program = "/proc/self/exe"
	cfg.Env = append([]string{testenv.AsRole(role, args...), testenv.Until(testenv.Before(cfg.Timeout))}, cfg.Env...)
	var out transcript
	cfg.Stdout, cfg.Stderr = out.beside(&out.stdout, cfg.Stdout), out.beside(&out.stderr, cfg.Stderr)
	cfg.Log = out.lines(cfg.Log)
	res, err := launcher.Run(t.Context(), cfg)
	o := out.of(res)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.Output)
	}
	return o
}

// Succeeds is Run for ranks that all have to end well. The test fails if one does not.
func Succeeds(t testing.TB, cfg launcher.Config, role string, args ...string) JobResult {
	t.Helper()
	o := Run(t, cfg, role, args...)
	if o.ExitCode != 0 {
		t.Errorf("exit code %d, %s\n%s", o.ExitCode, o.Sentence, o.Output)
	}
	return o
}

// Rank returns a role that is a rank with a configuration.
func Rank(cfg gaspi.Config, play func(ctx context.Context, p *gaspi.Proc, args []string) error) testenv.Role {
	return func(ctx context.Context, args []string) error {
		p, err := gaspi.Init(ctx, cfg)
		if err != nil {
			return err
		}
		defer p.Close()
		return play(ctx, p, args)
	}
}

// Local runs ranks that are goroutines, with testenv.Limit, and ends the test with their
// errors. If they hang, each says where.
func Local(t testing.TB, ranks int, cfg gaspi.Config, main func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	if err := gaspi.Local(testenv.Context(t), ranks, cfg, main); err != nil {
		t.Fatal(err)
	}
}

// A transcript keeps what goroutines of the launcher write.
type transcript struct {
	mu                  sync.Mutex
	stdout, stderr, all bytes.Buffer // guarded by mu
}

// of returns what there is so far, as that of a job.
func (x *transcript) of(res launcher.Result) JobResult {
	x.mu.Lock()
	defer x.mu.Unlock()
	return JobResult{Result: res, Stdout: x.stdout.String(), Stderr: x.stderr.String(), Output: x.all.String()}
}

// writer is one stream of a transcript.
type writer struct {
	transcript *transcript
	to         *bytes.Buffer
}

// Write never fails.
func (w writer) Write(p []byte) (int, error) {
	w.transcript.mu.Lock()
	defer w.transcript.mu.Unlock()
	w.to.Write(p)
	return w.transcript.all.Write(p)
}

// beside returns a writer to a stream of the transcript, and to another one if there is one.
func (x *transcript) beside(to *bytes.Buffer, other io.Writer) io.Writer {
	if other == nil {
		return writer{x, to}
	}
	return io.MultiWriter(writer{x, to}, other)
}

// lines returns a function that records a line of the launcher, and hands it to another
// function if there is one.
func (x *transcript) lines(other func(string)) func(string) {
	return func(line string) {
		x.mu.Lock()
		x.all.WriteString("launcher: " + line + "\n")
		x.mu.Unlock()
		if other != nil {
			other(line)
		}
	}
}
