// Package launcher starts the ranks of a job, numbers them, watches them, and
// ends them: processes, their output and their signals, and the rendezvous
// through which ranks find each other (internal/boot).
//
// It knows nothing of segments and queues, and any program can be a rank. All
// ranks run on this host. Command gaspi-run is Run with flags; a program that
// measures or tests something can call Run with its own path.
//
// What a job leaves behind is nothing: ranks, their children, and connections
// end with it, and also when the launcher itself is killed by signal 9.
package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// Rank numbers a process of a job, from 0 to Ranks-1.
type Rank = base.Rank

// A Config says what to run and how. The zero value of a field means its
// default; Program has none. Run does not change it.
type Config struct {
	// Program is a binary or a Go package. With a slash in it, it is the path of
	// an executable file, of a directory with a Go package, or of a .go file; or,
	// when there is nothing of that name, an import path. Without one it is
	// looked up in PATH, and then taken for a package directory. A package is
	// built once, with the go command, and leaves no file.
	Program string

	// Args follow the program's name, exactly as given.
	Args []string

	// Ranks is the number of processes, at most MaxRanks. Zero means one for
	// each core this process may run on.
	Ranks int

	// Env is added to the environment of this process, as "K=V"; a later entry
	// replaces an earlier one. The variables by which a rank knows who it is
	// (GASPI_RANK and its kin) cannot be set.
	Env []string

	// Output says what becomes of what the ranks print.
	Output Output

	// OutputDir is the directory that OutputDir writes to; it is made if it is
	// not there.
	OutputDir string

	// Stdin is what rank 0 reads; the other ranks read nothing. Nil means that
	// rank 0 reads nothing either. Run borrows it.
	Stdin *os.File

	// Stdout and Stderr take the output of all ranks. Nil means those of this
	// process. Run borrows them, and writes whole lines under OutputLabel.
	Stdout, Stderr io.Writer

	// Timeout ends a job that runs longer, counted from the start of the ranks.
	// Zero means no limit. Time during which the job was suspended does not count.
	Timeout time.Duration

	// Bind says which cores each rank may use.
	Bind Bind

	// KillGrace is how long ranks that were told to end may take before they are
	// killed. Zero means 5 s; negative means that they are killed at once.
	KillGrace time.Duration

	// OnFailure says what a rank's failure means for the others.
	OnFailure OnFailure

	// Heartbeat is how long silence may last before it counts as death: that of a
	// rank that is stopped (SIGSTOP), of a connection, or of a host. Such a rank
	// is killed. Zero means 10 s. With less than a second, a machine that is
	// busy looks like one that is dead.
	Heartbeat time.Duration

	// Foreground says that running this job is what the process is for. Signals
	// that this process gets are then forwarded to the ranks, and processes that
	// leave their rank's process group are ended with the job. Both change
	// settings of the whole process, so a library should leave it false.
	Foreground bool

	// Notice is called with one sentence when the job fails: which rank died of
	// what, and what became of the others. It comes after their output, unless
	// they take long to end. It is also called when a rank was stopped while the
	// job was not. Nil means that nobody is told before Run returns.
	Notice func(sentence string)

	// Log is called with lines about what the launcher does. Nil means silence.
	Log func(line string)
}

// MaxRanks bounds Config.Ranks.
const MaxRanks = 1 << 16

// DefaultKillGrace is what a Config.KillGrace of zero means.
const DefaultKillGrace = 5 * time.Second

// DefaultHeartbeat is what a Config.Heartbeat of zero means.
const DefaultHeartbeat = 10 * time.Second

// MinHeartbeat is the least that Config.Heartbeat may be.
const MinHeartbeat = 100 * time.Millisecond

// An Output says what becomes of what the ranks print.
type Output int

// The kinds of output.
const (
	// OutputLabel passes on whole lines, each after "[rank] ". Lines of more
	// than 1 MiB are passed on in pieces, each a line of its own. On a terminal,
	// a line that is not finished yet is shown last, and rewritten in place.
	OutputLabel Output = iota
	// OutputRaw lets the ranks write to Stdout and Stderr themselves.
	OutputRaw
	// OutputDir makes two files for each rank, named after it: 0.stdout,
	// 0.stderr and so on. Files of that name are overwritten.
	OutputDir
)

// A Bind says which cores a rank may use.
type Bind int

// The kinds of binding.
const (
	// BindNone lets the system place the ranks.
	BindNone Bind = iota
	// BindCore gives rank i the i-th core of those this process may use, modulo
	// their number, for all its threads from the start.
	BindCore
)

// An OnFailure says what a rank's failure means for the others.
type OnFailure int

// The consequences of a failure.
const (
	// Abort ends the job: the other ranks are told to end.
	Abort OnFailure = iota
	// Continue leaves the others running. They learn of the failure.
	Continue
)

// A Result says how a job ended.
type Result struct {
	// ExitCode is 0 when all ranks ended with status 0. Otherwise it is that of
	// the first rank that failed, 128 plus the signal if it was killed; or 124
	// after a timeout; or 128 plus the signal that ended the whole job.
	ExitCode int
	// Sentence says why ExitCode is not 0; it is what Config.Notice was called with.
	Sentence string
	// First is the first rank that failed by itself; nil if none did.
	First *RankExit
	// Ranks is how each rank ended; the index is the rank. A PID of 0 means that
	// the rank was not started.
	Ranks []RankExit
	// Elapsed is the time from the start of the first rank to the end of the job.
	Elapsed time.Duration
}

// A RankExit says how a rank ended.
type RankExit struct {
	Rank   Rank
	PID    int
	Status int            // exit status, when Signal is 0
	Signal syscall.Signal // the signal that killed it, or 0
	Core   bool           // it left a core dump
	After  time.Duration  // since the start of the job
	Ended  bool           // the launcher had told it to end before it did
	Why    string         // what the launcher killed it for, such as "stopped by signal 19 for 10s"; empty if it did not
}

// Failed reports whether the rank ended other than with status 0.
func (e RankExit) Failed() bool { return e.Status != 0 || e.Signal != 0 }

// Code is the exit status as a shell shows it: 128 plus the signal if one
// killed the rank.
func (e RankExit) Code() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Status
}

// Run starts the ranks of a job and returns when all have ended and their
// output has been passed on. An error means that the job did not run: a bad
// Config, a program that is not there (ErrNotFound, ErrNotExecutable), one that
// cannot be built (*BuildError) or started. It also returns the error of ctx,
// whose end ends the job. That ranks failed is no error but a Result.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{}, err
	}
	var signals *signals
	if cfg.Foreground {
		signals = catchSignals()
		defer signals.release()
	}
	program, err := prepare(ctx, cfg, signals)
	var interrupted *interruptedError
	if errors.As(err, &interrupted) {
		return Result{ExitCode: 128 + int(interrupted.signal), Sentence: err.Error()}, nil
	}
	if err != nil {
		return Result{}, err
	}
	defer program.close()
	j, err := newJob(cfg, program, signals)
	if err != nil {
		return Result{}, err
	}
	return j.run(ctx)
}

// withDefaults returns a checked copy in which every default is filled in.
func (c Config) withDefaults() (Config, error) {
	if c.Ranks == 0 {
		c.Ranks = runtime.NumCPU()
	}
	if c.Stdout == nil {
		c.Stdout = os.Stdout
	}
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	if c.KillGrace == 0 {
		c.KillGrace = DefaultKillGrace
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = DefaultHeartbeat
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case c.Program == "":
		return errors.New("no program was given: name a binary or a Go package")
	case c.Ranks < 1 || c.Ranks > MaxRanks:
		return fmt.Errorf("%d ranks: a job has 1 to %d", c.Ranks, MaxRanks)
	case c.Output < OutputLabel || c.Output > OutputDir:
		return fmt.Errorf("unknown output kind %d", c.Output)
	case c.Output == OutputDir && c.OutputDir == "":
		return errors.New("no directory was given for the output of the ranks")
	case c.Output != OutputDir && c.OutputDir != "":
		return fmt.Errorf("output directory %s was given, but the output does not go to a directory", c.OutputDir)
	case c.Timeout < 0:
		return fmt.Errorf("timeout %v is negative; 0 means none", c.Timeout)
	case c.Heartbeat < MinHeartbeat:
		return fmt.Errorf("heartbeat %v: expected at least %v", c.Heartbeat, MinHeartbeat)
	case c.Bind < BindNone || c.Bind > BindCore:
		return fmt.Errorf("unknown kind of binding %d", c.Bind)
	case c.OnFailure < Abort || c.OnFailure > Continue:
		return fmt.Errorf("unknown consequence of a failure %d", c.OnFailure)
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("argument %q contains a zero byte, which no program can be given", arg)
		}
	}
	return checkEnv(c.Env)
}

// reserved are the variables that only the launcher sets.
var reserved = [...]string{
	boot.EnvRank, boot.EnvSize, boot.EnvLocalRank, boot.EnvLocalSize, boot.EnvJob, boot.EnvFD,
	boot.EnvOutputTTY, boot.EnvOutputWidth, boot.EnvLocalCores,
}
