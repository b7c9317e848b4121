package testenv

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestWaiting has parallel tests of this package, which is a Waiting, run at once: more than there
// are cores, or as many as -parallel says.
func TestWaiting(t *testing.T) {
	const variable = "GASPI_TEST_WAITING"
	if os.Getenv(variable) != "" {
		fmt.Println("at once", flag.Lookup(parallelFlag).Value)
		return
	}
	t.Parallel()
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, waitingPerCore * runtime.GOMAXPROCS(0)},
		{[]string{"-test.parallel=1"}, 1},
	} {
		cmd := exec.CommandContext(Context(t), "/proc/self/exe", append(c.args, "-test.run=^TestWaiting$")...)
		cmd.Env = append(os.Environ(), variable+"=1")
		out, err := cmd.CombinedOutput()
		if want := fmt.Sprintf("at once %d\n", c.want); err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%v: %v, %q; want %q", c.args, err, out, want)
		}
	}
}
