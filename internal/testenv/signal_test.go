package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// TestSignalsThatWereIgnored runs this program as a script does in the background, where it ignores
// some signals. Those that it starts do not.
func TestSignalsThatWereIgnored(t *testing.T) {
	if os.Getenv(insideEnv) != "" {
		for _, sig := range []string{"INT", "QUIT", "HUP", "TERM"} {
			if out, err := exec.Command("sh", "-c", "kill -"+sig+" $$; echo it goes on").CombinedOutput(); err == nil {
				t.Errorf("SIG%s: %s", sig, out)
			}
		}
		return
	}
	cmd := exec.Command("sh", "-c", `trap "" INT QUIT HUP TERM; exec "$0" -test.run='^TestSignalsThatWereIgnored$'`, os.Args[0])
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
