package launcher

import (
	"bytes"
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
// go command is interrupted. Its temporary files are removed in any case.
func goBuild(ctx context.Context, cfg Config, t target, output string, signals *signals) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	temp, err := newBuildTemp(cfg.Log)
	if err != nil {
		return fmt.Errorf("build %s: %w", cfg.Program, err)
	}
	defer temp.remove()
	interrupted := signals.cancelOnEnd(cancel)
	err = checkKnown(goCommand(ctx, cfg, t, temp, "list", "-find", "--", t.pkg), t)
	if err == nil {
		build := goCommand(ctx, cfg, t, temp, buildArgs(cfg, t, output)...)
		build.Stdout, build.Stderr = cfg.Stderr, cfg.Stderr
		err = runTied(build)
	}
	if stopped := interrupted(); stopped != nil {
		return stopped
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return unfit(cfg.Program, "it is a Go package, and the go command to build it is not in PATH; install Go, or build the package elsewhere")
	case errors.Is(err, ErrNotFound):
		return fmt.Errorf("%s: %w", cfg.Program, err)
	case errors.As(err, &exit):
		return &BuildError{Package: cfg.Program, ExitCode: max(exit.ExitCode(), 1)}
	}
	return fmt.Errorf("build %s: %w", cfg.Program, err)
}

// buildArgs has the go command write the program of a package to output.
func buildArgs(cfg Config, t target, output string) []string {
	args := []string{"build"}
	if !strings.Contains(os.Getenv("GOFLAGS"), "-buildvcs") {
		// As in go run: a checkout of another user, which git distrusts, is built too.
		args = append(args, "-buildvcs=false")
	}
	if cfg.Transport == transportRDMA { // which calls a C library, so that other builds lack it
		args = append(args, "-tags", "rdma")
	}
	return append(args, "-o", output, "--", t.pkg)
}

// goCommand is the go command for a package. It is interrupted when ctx ends.
func goCommand(ctx context.Context, cfg Config, t target, temp *buildTemp, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	temp.use(cmd)
	if cfg.Transport == transportRDMA {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	cmd.SysProcAttr = supervise.DyingWithParent(syscall.SysProcAttr{}, syscall.SIGINT)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = DefaultKillGrace
	return cmd
}

// runTied runs a command that gets a signal when this process ends. That signal follows the
// thread that has started the command.
func runTied(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

// checkKnown refuses an import path of which list, a go command, finds no package: the error is
// ErrNotFound with the reason. A file or directory has been seen.
func checkKnown(list *exec.Cmd, t target) error {
	if t.dir != "" {
		return nil
	}
	var reason bytes.Buffer
	list.Stderr = &reason
	err := runTied(list)
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return err
	}
	return fmt.Errorf("%w: it is neither a file nor a directory, and no import path that the go command knows here: %s", ErrNotFound, strings.Join(strings.Fields(reason.String()), " "))
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
