package process

import "golang.org/x/sys/unix"

// An Exit is how a process ended.
type Exit struct {
	Status int         // exit status, when Signal is 0
	Signal unix.Signal // the signal that killed it, or 0
	Core   bool        // it left a core dump
}

// An Ended is the end of a child.
type Ended struct {
	PID  int
	Exit Exit
	Err  error // why it is not known how the child ended, or nil
}

// ReapIfEnded takes the remains of a child that has ended, and reports whether
// it did so. It never blocks.
func ReapIfEnded(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err == nil && got == pid
}

// ReapGroup takes the remains of all children in a process group that have ended. It never blocks.
func ReapGroup(group int) {
	for {
		if got, err := unix.Wait4(-group, nil, unix.WNOHANG, nil); err != nil || got <= 0 {
			return
		}
	}
}
