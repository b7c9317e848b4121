package launcher

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// keeperScript waits until the launcher says that all is well, and kills the
// ranks' process groups when it goes without a word. It uses nothing but what a
// shell has built in.
const keeperScript = `trap '' HUP INT QUIT TERM TSTP
read -r groups || exit 0
read -r over && exit 0
kill -s KILL -- $groups 2>/dev/null`

// A keeper is a tiny process that outlives a launcher killed by signal 9. The
// system kills the ranks then, but not what they have started. All methods work
// on nil: where there is no shell, nobody keeps.
type keeper struct {
	process *os.Process
	pipe    *os.File
}

// startKeeper starts the keeper of the ranks that a crew has started.
func startKeeper(c *crew) *keeper {
	k, err := newKeeper(c)
	if err != nil {
		c.log(fmt.Sprintf("processes started by ranks will survive if this launcher is killed by signal 9: %v", err))
		return nil
	}
	return k
}

func newKeeper(c *crew) (*keeper, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer null.Close()
	var process *os.Process
	err = c.family.begin(func() (pid int, err error) {
		process, err = os.StartProcess("/bin/sh", []string{"gaspi-keeper", "-c", keeperScript}, &os.ProcAttr{
			Dir:   "/",
			Env:   []string{},
			Files: []*os.File{theirs, null, null},
			Sys:   &syscall.SysProcAttr{Setpgid: true},
		})
		if err != nil {
			return 0, err
		}
		return process.Pid, nil
	})
	if err != nil {
		ours.Close()
		return nil, err
	}
	var groups strings.Builder
	for _, r := range c.ranks {
		if pid := r.pid(); pid != 0 {
			fmt.Fprintf(&groups, "-%d ", pid)
		}
	}
	groups.WriteByte('\n')
	if _, err := ours.WriteString(groups.String()); err != nil {
		ours.Close()
		process.Wait()
		return nil, err
	}
	return &keeper{process: process, pipe: ours}, nil
}

// dismiss ends the keeper: nothing is left to be kept.
func (k *keeper) dismiss() {
	if k == nil {
		return
	}
	k.pipe.WriteString("over\n")
	k.pipe.Close()
	k.process.Wait()
}
