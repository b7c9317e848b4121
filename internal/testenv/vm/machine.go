package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// Address is the IPv4 address of the guest's only RDMA device, rxe0.
const Address = "192.0.2.1"

// Memory and processors of the guest. The job and all its files fit into the
// memory, or they fail; what they do not use is not taken from this machine.
const (
	memoryMiB  = 4096
	processors = 2
)

// processor is all that can be emulated, but for what protects a kernel from
// attackers and what only huge memory needs: it costs seconds of each boot.
const processor = "max,-la57,-smap,-smep,-pku,-umip"

// A Machine boots a guest for each job. Several may run at a time.
type Machine struct {
	image *image
}

// A Job is what a guest does.
type Job struct {
	// Script is run by the shell of busybox as root, in a folder that is in its
	// PATH, with no limit of locked memory. Its exit status is the job's.
	Script string
	// Files are copied into that folder: the path of each here, by its name there.
	// They keep whether they can be run. A program may need the libraries of
	// libc6, libfabric1 and the packages of verbs, and no others.
	Files map[string]string
	// Output gets what the script prints, while it does; by default it is discarded.
	Output io.Writer
}

// New returns a machine. The first call on a computer downloads some 75 MB of
// packages to the user's cache and builds an image of 90 MB there, which takes 15 s.
// Without network, or on a system without apt, the test fails with the reason.
func New(t testing.TB) *Machine {
	t.Helper()
	testenv.Need(t, "qemu-system-x86_64", "apt-get", "dpkg-deb", "tar", "cpio", "xz")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("no folder for the image of the virtual machine: %v", err)
	}
	img, err := openImage(t.Context(), filepath.Join(cache, "gaspi-vm"))
	if err != nil {
		t.Fatalf("no virtual machine: %v", err)
	}
	return &Machine{img}
}

// Run boots a guest, has it do the job, and returns the exit status of its script.
// It is an error if there is none: ctx ended, or the guest did, and then the error
// has the end of what the guest's console said. The guest takes some seconds to
// boot.
func (m *Machine) Run(ctx context.Context, j Job) (status int, err error) {
	dir, err := os.MkdirTemp("", "gaspi-vm-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	initrd := filepath.Join(dir, "initrd.cpio")
	if err := writeInitrd(initrd, m.image.base, filepath.Join(dir, "root"), j); err != nil {
		return 0, err
	}
	console, answer := filepath.Join(dir, "console"), filepath.Join(dir, "status")
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64",
		"-nodefaults", "-no-reboot", "-display", "none", "-machine", "q35",
		"-accel", "tcg,thread=multi", "-cpu", processor, "-smp", strconv.Itoa(processors), "-m", strconv.Itoa(memoryMiB),
		"-kernel", m.image.kernel, "-initrd", initrd,
		"-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off random.trust_cpu=on",
		"-serial", "file:"+console, "-serial", "stdio", "-serial", "file:"+answer)
	err = run(cmd, j.Output)
	if text, readErr := os.ReadFile(answer); err == nil && readErr == nil {
		if status, readErr = strconv.Atoi(strings.TrimSpace(string(text))); readErr == nil {
			return status, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("the guest was still running: %w", context.Cause(ctx))
	case err == nil:
		err = errors.New("the guest ended without an exit status")
	}
	return 0, fmt.Errorf("%w\nits console: %s", err, tail(console))
}

// run runs qemu, which ends when this process does. The kernel takes the thread
// that started it for its parent, so that is kept.
func run(cmd *exec.Cmd, output io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = output, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	process.DieWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("qemu-system-x86_64: %w %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// tail returns the last lines of a file, or why there are none.
func tail(file string) string {
	const lines = 30
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// writeInitrd writes the archive base, and after it one of what belongs to a job, which it
// gathers in the folder root.
func writeInitrd(name, base, root string, j Job) error {
	if err := gather(filepath.Join(root, "job"), j); err != nil {
		return err
	}
	all, err := os.Create(name)
	if err != nil {
		return err
	}
	defer all.Close()
	f, err := os.Open(base)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(all, f); err != nil {
		return err
	}
	return writeArchive(all, root, "--dereference")
}

// gather puts the script of a job and links to its files into a new folder.
func gather(dir string, j Job) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "job.sh"), []byte(j.Script), 0o644); err != nil {
		return err
	}
	for name, file := range j.Files {
		file, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		if err := os.Symlink(file, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
