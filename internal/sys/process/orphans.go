//go:build linux && !portable

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// AdoptOrphans makes descendants of this process whose own parent ends its
// children from now on, instead of those of the system's first process. It
// holds for the whole process and has no end.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", err)
	}
	return nil
}

// Children returns the children of this process, those that have ended but were
// not waited for included. It is empty on a kernel that does not list them, and where
// /proc has other numbers for them.
func Children() []int {
	if !sys.OwnProc() {
		return nil
	}
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended; its children are another one's now
		}
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Supported returns nil: ranks can be processes on this system.
func Supported() error { return nil }
