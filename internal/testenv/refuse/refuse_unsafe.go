//go:build linux

// Command refuse runs a command for which the system refuses some of its calls, as it does
// where a container's filter (seccomp) forbids them:
//
//	refuse EPERM pidfd_open,memfd_create COMMAND [ARGUMENT ...]
//
// It is for tests.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	answers = map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}
	calls   = map[string]uint32{
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "membarrier": unix.SYS_MEMBARRIER, "memfd_create": unix.SYS_MEMFD_CREATE,
		"perf_event_open": unix.SYS_PERF_EVENT_OPEN, "pidfd_getfd": unix.SYS_PIDFD_GETFD, "pidfd_open": unix.SYS_PIDFD_OPEN,
		"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "process_vm_readv": unix.SYS_PROCESS_VM_READV,
		"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "ptrace": unix.SYS_PTRACE, "statx": unix.SYS_STATX,
	}
)

func main() {
	err := run(os.Args[1:])
	fmt.Fprintln(os.Stderr, "refuse:", err)
	os.Exit(125)
}

// run becomes the command. It returns only with an error.
func run(args []string) error {
	if len(args) < 3 || answers[args[0]] == 0 {
		return fmt.Errorf("usage: refuse EPERM|ENOSYS CALL,CALL COMMAND [ARGUMENT ...]")
	}
	program, err := filter(answers[args[0]], strings.Split(args[1], ","))
	if err != nil {
		return err
	}
	path, err := exec.LookPath(args[2])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is this thread's, which becomes the command
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	list := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&list)), 0, 0); err != nil {
		return fmt.Errorf("filter of system calls: %w", err)
	}
	return unix.Exec(path, args[2:], os.Environ())
}

// filter returns the program that looks at the number of each call.
func filter(answer unix.Errno, names []string) ([]unix.SockFilter, error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number
	for _, name := range names {
		number, ok := calls[name]
		if !ok {
			return nil, fmt.Errorf("no system call %q is known here", name)
		}
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(answer)})
	}
	return append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}), nil
}
