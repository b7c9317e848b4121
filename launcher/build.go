package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// lowestProgramFD keeps the program file clear of the few descriptors that a
// rank starts with: those are set up before it is executed.
const lowestProgramFD = 64

// A BuildError says that the go command refused a package. It has already said
// why on Config.Stderr.
type BuildError struct {
	Package  string
	ExitCode int // of the go command
}

// Error names the package.
func (e *BuildError) Error() string {
	return fmt.Sprintf("go build %s ended with status %d", e.Package, e.ExitCode)
}

// build makes a program of a package. The go command writes it to a memory file
// of this process, so that no signal can make it leave a file behind.
func build(ctx context.Context, cfg Config, t target, signals *signals) (*program, error) {
	start := time.Now()
	file, err := sys.CreateProgramFile(t.name)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", cfg.Program, err)
	}
	err = goBuild(ctx, cfg, t, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file), signals)
	if err != nil {
		sys.CloseFile(file)
		return nil, err
	}
	// Nothing can be executed that is open for writing.
	read, err := sys.ReopenReadOnly(file, lowestProgramFD)
	sys.CloseFile(file)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", cfg.Program, err)
	}
	path := fmt.Sprintf("/proc/self/fd/%d", read)
	if err := checkProgram(path, cfg.Program); err != nil {
		sys.CloseFile(read)
		return nil, err
	}
	cfg.Log(fmt.Sprintf("built %s in %v", cfg.Program, time.Since(start).Round(time.Millisecond)))
	return &program{
		path:  path,
		name:  t.name,
		built: true,
		close: func() { sys.CloseFile(read) },
	}, nil
}

// goBuild runs the go command. When the job is to end before it has begun, the
// go command is interrupted, and so removes its own temporary files.
func goBuild(ctx context.Context, cfg Config, t target, output string, signals *signals) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupted := signals.cancelOnEnd(cancel)
	args := []string{"build"}
	if !strings.Contains(os.Getenv("GOFLAGS"), "-buildvcs") {
		// As in go run: a checkout of another user, which git distrusts, is built too.
		args = append(args, "-buildvcs=false")
	}
	if cfg.Transport == transportRDMA { // which calls a C library, so that other builds lack it
		args = append(args, "-tags", "rdma")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", output, "--", t.pkg)...)
	if cfg.Transport == transportRDMA {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	cmd.Dir = t.dir
	cmd.Stdout, cmd.Stderr = cfg.Stderr, cfg.Stderr
	cmd.SysProcAttr = supervise.DyingWithParent(syscall.SysProcAttr{}, syscall.SIGINT)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = DefaultKillGrace
	// The signal for the death of the parent follows the thread that started cmd.
	runtime.LockOSThread()
	err := cmd.Run()
	runtime.UnlockOSThread()
	if sig := interrupted(); sig != 0 {
		return &interruptedError{sig}
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return unfit(cfg.Program, "it is a Go package, and the go command to build it is not in PATH; install Go, or build the package elsewhere")
	case errors.As(err, &exit) && !isKnown(ctx, cmd, t):
		return fmt.Errorf("%s: %w: it is neither a file nor a directory, and the go command knows no package of that import path", cfg.Program, ErrNotFound)
	case errors.As(err, &exit):
		return &BuildError{Package: cfg.Program, ExitCode: max(exit.ExitCode(), 1)}
	}
	return fmt.Errorf("build %s: %w", cfg.Program, err)
}

// isKnown reports whether the go command knows the package that it could not build. It
// is asked about import paths: a file or directory has been seen.
func isKnown(ctx context.Context, build *exec.Cmd, t target) bool {
	if t.dir != "" {
		return true
	}
	list := exec.CommandContext(ctx, "go", "list", "-find", "--", t.pkg)
	list.Env = build.Env
	return list.Run() == nil || ctx.Err() != nil
}

// checkProgram refuses what go build makes of a package other than main.
func checkProgram(path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || string(magic[:]) != "\x7fELF" {
		return unfit(name, "it is a Go package that gives no program for this system; its name must be main, and GOOS, if it is set, linux")
	}
	return nil
}
