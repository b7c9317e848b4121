package executable

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
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// lowestProgramFD keeps the program file clear of the few descriptors that a
// rank starts with: those are set up before it is executed.
const lowestProgramFD = 64

// A Request says which program to prepare.
type Request struct {
	Program string // a binary, or a package
	RDMA    bool   // packages are built with the C library of the transport rdma
	Stderr  io.Writer
	Log     func(line string)

	// Signals calls cancel when a signal comes that ends the job before its ranks are started.
	// The function that it returns stops that, and says which signal it was.
	Signals func(cancel context.CancelFunc) func() error

	// Refused makes the error of a package that the go command refuses with that status.
	Refused func(status int) error

	// Grace is how long the go command has to end when it is interrupted.
	Grace time.Duration
}

// Prepare finds the program and builds it if it is a package. It blocks for as long as the
// go command runs, which is interrupted when ctx ends. The error is that of ctx or of Signals,
// that of Refused, or ErrNotFound or ErrNotExecutable with the reason.
func Prepare(ctx context.Context, r Request) (*File, error) {
	t, err := Find(r.Program)
	if err != nil {
		return nil, err
	}
	if t.binary != "" {
		return At(t.binary, t.name), nil
	}
	return r.build(ctx, t)
}

// build makes a program of a package. The go command writes it to a memory file
// of this process, so that no signal can make it leave a file behind.
func (r Request) build(ctx context.Context, t Target) (*File, error) {
	start := time.Now()
	file, err := process.CreateProgramFile(t.name)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", r.Program, err)
	}
	if err := r.goBuild(ctx, t, file); err != nil {
		sys.CloseFile(file)
		return nil, err
	}
	// Nothing can be executed that is open for writing.
	read, err := process.ReopenReadOnly(file, lowestProgramFD)
	sys.CloseFile(file)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", r.Program, err)
	}
	path := fmt.Sprintf("/proc/self/fd/%d", read)
	if err := checkProgram(path, r.Program); err != nil {
		sys.CloseFile(read)
		return nil, err
	}
	r.Log(fmt.Sprintf("built %s in %v", r.Program, time.Since(start).Round(time.Millisecond)))
	return &File{
		path:  path,
		name:  t.name,
		built: true,
		close: func() { sys.CloseFile(read) },
	}, nil
}

// goBuild runs the go command, which writes to descriptor file of this process. When the job is to end
// before it has begun, the go command is interrupted. Its temporary files are removed in any case.
func (r Request) goBuild(ctx context.Context, t Target, file int) error {
	self, err := sys.ProcOfSelf()
	if err != nil {
		return fmt.Errorf("build %s: %w: the go command writes to the memory of gaspi-run through /proc: mount -t proc proc /proc, or build the package and run the file", r.Program, err)
	}
	output := fmt.Sprintf("%s/fd/%d", self, file)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	temp, err := newBuildTemp(r.Log)
	if err != nil {
		return fmt.Errorf("build %s: %w", r.Program, err)
	}
	defer temp.remove()
	interrupted := r.Signals(cancel)
	err = checkKnown(r.goCommand(ctx, t, temp, "list", "-find", "--", t.pkg), t)
	if err == nil {
		build := r.goCommand(ctx, t, temp, r.buildArgs(t, output)...)
		build.Stdout, build.Stderr = r.Stderr, r.Stderr
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
		return unfit(r.Program, "it is a Go package, and the go command to build it is not in PATH; install Go, or build the package elsewhere")
	case errors.Is(err, ErrNotFound):
		return fmt.Errorf("%s: %w", r.Program, err)
	case errors.As(err, &exit):
		return r.Refused(max(exit.ExitCode(), 1))
	}
	return fmt.Errorf("build %s: %w", r.Program, err)
}

// buildArgs has the go command write the program of a package to output.
func (r Request) buildArgs(t Target, output string) []string {
	args := []string{"build"}
	if !strings.Contains(os.Getenv("GOFLAGS"), "-buildvcs") {
		// As in go run: a checkout of another user, which git distrusts, is built too.
		args = append(args, "-buildvcs=false")
	}
	if r.RDMA { // which calls a C library, so that other builds lack it
		args = append(args, "-tags", "rdma")
	}
	return append(args, "-o", output, "--", t.pkg)
}

// goCommand is the go command for a package. It is interrupted when ctx ends.
func (r Request) goCommand(ctx context.Context, t Target, temp *buildTemp, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	temp.use(cmd)
	if r.RDMA {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	cmd.SysProcAttr = supervise.DyingWithParent(syscall.SysProcAttr{}, syscall.SIGINT)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = r.Grace
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
func checkKnown(list *exec.Cmd, t Target) error {
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
