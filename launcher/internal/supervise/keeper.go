package supervise

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// keeperScript reads the variables of the environment of the ranks that say which job and which host they are of,
// and then the process groups of the ranks, a line each, until the launcher says that all is well, and kills them when
// it goes without a word. The groups in a line after "only" replace all before them. A rank that has begun while the
// launcher was killed is in no line, and what it has started may have left its group: the environment tells such
// processes. One that they start meanwhile is found in the next round; one that cannot end is looked for in some
// rounds only. Nothing is looked for where /proc has the numbers of another PID namespace. The script uses nothing but
// what a shell has built in, and that leaves out the zeros between variables.
const keeperScript = `trap '' HUP INT QUIT TERM TSTP
groups=
read -r job
read -r host
while read -r line; do
	case $line in
	over) exit 0 ;;
	only*) groups=${line#only} ;;
	*) groups="$groups -$line" ;;
	esac
done
test -z "$groups" || kill -s KILL -- $groups 2>/dev/null
read -r self rest </proc/self/stat
test -n "$job" -a "$self" = $$ || exit 0
for round in 1 2 3 4 5 6 7 8; do
	found=
	for process in /proc/[0-9]*; do
		all=
		while read -r text || test -n "$text"; do
			all="$all$text "
		done <"$process/environ"
		case $all in
		*"$job"*)
			case $all in
			*"$host"[!0-9]*) kill -s KILL "${process#/proc/}" && found=yes ;;
			esac
			;;
		esac
	done 2>/dev/null
	test -n "$found" || exit 0
done`

// A keeper is a tiny process that outlives a launcher killed by signal 9. The
// system kills the ranks then, but not what they have started. All methods work
// on nil: where there is no shell, nobody keeps.
type keeper struct {
	process *os.Process
	pipe    *os.File
	known   int // process groups that it was told about
}

// unkept is what is said about what nobody keeps.
const unkept = "processes started by ranks will survive if this launcher is killed by signal 9: %v"

// startKeeper starts the keeper of the ranks that are about to be started.
func startKeeper(a *Ranks) *keeper {
	k, err := newKeeper(a)
	if err != nil {
		a.task.Log(fmt.Sprintf(unkept, err))
		return nil
	}
	return k
}

func newKeeper(a *Ranks) (*keeper, error) {
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
	err = a.task.Children.Begin(func() (pid int, err error) {
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
	fmt.Fprintf(ours, "%s\n%s\n", a.variable(boot.EnvJob), a.variable(boot.EnvHost))
	return &keeper{process: process, pipe: ours}, nil
}

// variable returns a variable of the environment of the ranks, "" if they have none of that name or it is empty.
func (a *Ranks) variable(name string) string {
	for _, r := range a.ranks {
		for _, v := range r.env {
			if value, ok := strings.CutPrefix(v, name+"="); ok && value != "" {
				return v
			}
		}
	}
	return ""
}

// keep tells the number of a process group, as soon as it is there.
func (k *keeper) keep(group int) error {
	if k == nil {
		return nil
	}
	k.known++
	_, err := fmt.Fprintln(k.pipe, group)
	return err
}

// narrow tells which process groups are still there, if some are not: those among left, which
// is what leftovers returns. The numbers of the others may belong to somebody else by now.
func (k *keeper) narrow(left []int) {
	if k == nil {
		return
	}
	line, groups := "only", 0
	for _, target := range left {
		if target < 0 {
			line += fmt.Sprintf(" %d", target)
			groups++
		}
	}
	if groups < k.known {
		k.known = groups
		fmt.Fprintln(k.pipe, line) // a keeper that is gone keeps nothing
	}
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
