package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/object"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/startup"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const (
	// envRank is set in the ranks of a job.
	envRank = "GASPI_RANK"
	// envSize is how many ranks that job has.
	envSize = "GASPI_SIZE"
	// envTransport is what gaspi-run tells the ranks of its --transport by.
	envTransport = "GASPI_TRANSPORT"
	// envProvider is the provider of libfabric that ranks use.
	envProvider = "GASPI_RDMA_PROVIDER"
	// envCores tells the ranks how many cores they share: one that is bound to
	// a core sees only that one.
	envCores = "GASPI_BENCH_CORES"
	envBound = "GASPI_BENCH_BOUND"
	// envPart says that the job is one side of a comparison, which may have no rows.
	envPart = "GASPI_BENCH_SIDE"
)

// inProcesses starts this program as the ranks of a job.
func inProcesses(ctx context.Context, o *options, stdout, stderr *os.File) int {
	cfg, err := o.job(stdout, stderr)
	if err != nil {
		say(stderr, err)
		return exitFailed
	}
	result, err := launcher.Run(ctx, cfg)
	if err != nil {
		say(stderr, err)
		return exitFailed
	}
	return result.ExitCode
}

// job is how the ranks are started.
func (o *options) job(stdout, stderr *os.File) (launcher.Config, error) {
	if err := o.forms.Try(); err != nil {
		return launcher.Config{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return launcher.Config{}, fmt.Errorf("finding this program to start it as ranks: %w", err)
	}
	cores, err := thread.Cores()
	if err != nil {
		return launcher.Config{}, err
	}
	cfg := launcher.Config{
		Program: program, Args: o.args, Ranks: o.ranks, Output: launcher.OutputRaw,
		Stdout: stdout, Stderr: stderr, Foreground: true,
		Env:    []string{envCores + "=" + strconv.Itoa(len(cores)), startup.Began()},
		Notice: func(sentence string) { fmt.Fprintln(stderr, "gaspi-bench: "+sentence) },
	}
	if o.bind == "core" || o.bind == "auto" && o.ranks <= len(cores) && o.emulate == "" {
		cfg.Bind = launcher.BindCore
		cfg.Env = append(cfg.Env, envBound+"=1")
	}
	return cfg, nil
}

// errInterrupted says that a signal ended a measurement. Rows that were measured until then
// are shown, drawn and written.
var errInterrupted = errors.New("interrupted; shown is what was measured until then")

// interruptible returns a context that ends with a signal that would end this process: not
// with one that it was started to ignore.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	signals = slices.DeleteFunc(signals, signal.Ignored)
	if len(signals) == 0 { // none would stand for all
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, signals...)
}

// signalPatience bounds how long a signal to all ranks takes to arrive at one of them after
// another one has ended by it.
const signalPatience = time.Second

// endOfRank is how a rank ended whose measurement ended with err: by errInterrupted if a signal
// has ended ctx. A signal to all ranks may end another one first, so if err is about the end
// of one, endOfRank waits for the signal.
func endOfRank(ctx context.Context, err error) error {
	if errors.Is(err, gaspi.ErrRankDead) {
		late, stop := context.WithTimeout(ctx, signalPatience)
		defer stop()
		<-late.Done()
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// asRank is the life of one rank of a job of processes. Its error is errInterrupted if a
// signal ended it, and a misuse, which was said already, if the job is one that the command
// line makes no sense in.
func asRank(ctx context.Context, o *options, stdout, stderr *os.File) (err error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	defer func() { err = endOfRank(ctx, err) }()
	cores, err := strconv.Atoi(os.Getenv(envCores))
	if err != nil || cores < 1 {
		cores = runtime.NumCPU()
	}
	p, err := gaspi.Init(ctx, gaspi.Config{Transport: o.transport, Emulate: o.emulate})
	if err != nil {
		return err
	}
	defer p.Close()
	if (o.op.main == nil || o.op.tune) && o.op.object == object.None && p.LocalSize() <= threadsOfCore*p.LocalCores() {
		runtime.LockOSThread()
	}
	if o.op.start != nil {
		if err := o.op.start.Join(ctx, p); err != nil {
			return err
		}
	}
	if err := o.suits(p.Size()); err != nil {
		sayOnce(p, err, stderr)
		return err
	}
	var out *report.Printer
	if p.Rank() == 0 {
		transports, err := measure.Transports(p)
		if err != nil {
			return err
		}
		if out, err = report.NewPrinter(o.forms, stdout, stderr, headline(p.Size(), transports, cores, os.Getenv(envBound) != "")); err != nil {
			return err
		}
	}
	return errors.Join(o.rank(ctx, p, cores, out), out.Close())
}

// threadsOfCore is up to how many ranks of a core are kept on one thread each, as ranks of MPI are. Where ranks share
// cores, a goroutine that goes from thread to thread goes from core to core, and the system takes tens of milliseconds
// to find out that three ranks now share one core: an alltoall of 32 KiB among 4 ranks over sockets took 159 us instead
// of 124. It is not for ranks that hand work from goroutine to goroutine, each of which would cost a turn of the
// system's scheduler, nor for very many of a core: every 10 ms the Go runtime takes a goroutine off its thread, which,
// if it is kept there, comes back after two turns. A barrier of 256 ranks on 2 cores took 20 ms instead of 9.
const threadsOfCore = 16

// inProcess runs all ranks as goroutines. Its error is errInterrupted if a signal ended it.
func inProcess(ctx context.Context, o *options, stdout, stderr *os.File) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	cores := runtime.GOMAXPROCS(0)
	out, err := report.NewPrinter(o.forms, stdout, stderr, headline(o.ranks, o.transport, cores, false))
	if err != nil {
		return err
	}
	err = gaspi.Local(ctx, o.ranks, gaspi.Config{Transport: o.transport, Emulate: o.emulate}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() != 0 {
			return o.rank(ctx, p, cores, nil)
		}
		return o.rank(ctx, p, cores, out)
	})
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return errors.Join(err, out.Close())
}

// headline says what is measured where, as far as figures depend on it.
func headline(ranks int, transport string, cores int, bound bool) string {
	bind := "not bound"
	if bound {
		bind = "one core each"
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	release := strings.TrimSpace(string(kernel))
	if err != nil {
		release = "of unknown version"
	}
	return fmt.Sprintf("gaspi-bench: %d ranks over %s, %d cores, ranks %s, %s, kernel %s, %s",
		ranks, transport, cores, bind, runtime.Version(), release, time.Now().UTC().Format("2006-01-02 15:04 UTC"))
}
