//go:build linux && !portable

package sys

import "syscall"

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
