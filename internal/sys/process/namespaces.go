//go:build linux && !portable

package process

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// DieWithParent makes a process that is started with attr get a signal when the thread
// that started it ends.
func DieWithParent(attr *syscall.SysProcAttr, signal syscall.Signal) { attr.Pdeathsig = signal }

// OwnNetwork gives a process that is started with attr a network of its own, without any
// interface but loopback.
func OwnNetwork(attr *syscall.SysProcAttr) error {
	attr.Cloneflags |= syscall.CLONE_NEWNET
	return nil
}

// OwnHost gives a process that is started with attr all that makes a host: a network, a
// name, processes, mounts and shared memory of its own.
func OwnHost(attr *syscall.SysProcAttr) error {
	attr.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWPID
	return OwnNetwork(attr)
}

// EnterNetwork puts the calling thread, which the caller has locked to its goroutine,
// on the network that a file names, such as /proc/1/ns/net. The thread never comes back.
func EnterNetwork(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("network %s: %w", name, err)
	}
	return nil
}
