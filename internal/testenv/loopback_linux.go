package testenv

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// needLoopback returns nil if the loopback interface is up, as tests connect to addresses of
// it. Where it is down, as in a network namespace that nobody has configured, the program is
// executed again in a network namespace of its own, in which it is up.
func needLoopback() error {
	if up, err := setLoopback(0); up || err != nil {
		return nil // an error is that of a system that has no interface of this name
	}
	runtime.LockOSThread() // a namespace is that of a thread, and of the program that it executes
	err := unix.Unshare(unix.CLONE_NEWNET)
	if err == nil {
		_, err = setLoopback(unix.IFF_UP)
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	return fmt.Errorf("the loopback interface is down, which tests need (ip link set lo up); they have no namespace of their own either: %w", err)
}

// setLoopback sets flags of the loopback interface, and reports whether it was up before.
func setLoopback(flags uint16) (wasUp bool, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return false, err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, request); err != nil {
		return false, err
	}
	before := request.Uint16()
	if flags != 0 {
		request.SetUint16(before | flags)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
	}
	return before&unix.IFF_UP != 0, err
}
