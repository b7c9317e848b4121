package supervise

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A RankDebugged is reported when a rank was started in a debugger, which waits for its user before
// the rank does anything. Agents send it to the launcher.
type RankDebugged struct {
	Rank   base.Rank
	Attach string // the command that reaches the debugger, on the host of the rank
}

// A debugger starts a program and listens on loopback.
type debugger struct {
	path string
	// arguments returns the command line, with its name, that starts a program at an address; attach
	// returns what its user types.
	arguments func(address, program string, args []string) []string
	attach    func(address, program string) string
}

// debuggers are known by name, the best for Go first.
var debuggers = []struct {
	name string
	make func(path string) debugger
}{
	{"dlv", delve}, {"gdbserver", gdbserver},
}

func delve(path string) debugger {
	return debugger{
		path: path,
		arguments: func(address, program string, args []string) []string {
			start := []string{"dlv", "exec", "--headless", "--listen=" + address, "--api-version=2", "--accept-multiclient", program, "--"}
			return append(start, args...)
		},
		attach: func(address, _ string) string { return "dlv connect " + address },
	}
}

func gdbserver(path string) debugger {
	return debugger{
		path: path,
		arguments: func(address, program string, args []string) []string {
			return append([]string{"gdbserver", "--no-startup-with-shell", address, program}, args...)
		},
		attach: func(address, program string) string {
			return fmt.Sprintf("gdb -ex 'target remote %s' %s", address, program)
		},
	}
}

// findDebugger looks for a debugger in PATH.
func findDebugger() (debugger, error) {
	for _, d := range debuggers {
		if path, err := exec.LookPath(d.name); err == nil {
			return d.make(path), nil
		}
	}
	return debugger{}, errors.New("there is neither dlv nor gdbserver in PATH to debug ranks with: install Delve (go install github.com/go-delve/delve/cmd/dlv@latest), or gdbserver with gdb")
}

// freeAddress returns an address of loopback at which nobody listens, so that the user can be told
// where the debugger will.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// invocation returns what is executed for a rank: the program, or a debugger that starts it, and then
// how its user reaches that.
func (a *Ranks) invocation(r *rank) (path string, argv []string, attach string, err error) {
	c := a.task.Command
	if !r.debugged {
		return c.Path, append([]string{c.Name}, c.Args...), "", nil
	}
	d, err := findDebugger()
	if err != nil {
		return "", nil, "", err
	}
	address, err := freeAddress()
	if err != nil {
		return "", nil, "", fmt.Errorf("debugger: %w", err)
	}
	shown := c.Path
	if strings.HasPrefix(shown, "/proc/") { // which the package was built to
		shown = c.Name
	}
	return d.path, d.arguments(address, c.Path, c.Args), d.attach(address, shown), nil
}
