package testenv

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

// loopbackEnv makes TestLoopback the test that is run in a namespace.
const loopbackEnv = "TESTENV_TEST_LOOPBACK"

// TestLoopback runs this program in a network namespace in which the loopback interface is
// down.
func TestLoopback(t *testing.T) {
	if os.Getenv(loopbackEnv) == "" {
		Need(t, "unshare")
		NeedSuccess(t, "a network namespace", "unshare", "--net", os.Args[0], "-test.run=^$")
		cmd := exec.Command("unshare", "--net", os.Args[0], "-test.run=^TestLoopback$", "-test.v")
		cmd.Env = append(os.Environ(), loopbackEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}
