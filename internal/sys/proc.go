package sys

import (
	"os"
	"strconv"
)

// OwnProc reports whether /proc has this process under its own number: it is mounted, and is not that of another PID
// namespace, whose numbers stand for other processes here.
func OwnProc() bool {
	pid, err := os.Readlink("/proc/self")
	return err == nil && pid == strconv.Itoa(os.Getpid())
}

// ProcOfSelf returns the directory of this process in /proc, by which others reach it: also in the /proc of another
// PID namespace, where the number is not that of os.Getpid.
func ProcOfSelf() (string, error) {
	pid, err := os.Readlink("/proc/self")
	return "/proc/" + pid, err
}
