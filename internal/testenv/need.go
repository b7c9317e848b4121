// Package testenv is what tests may need of the machine that they run on, the roles that
// processes of a test program play in place of tests, and the limits of waits. A missing thing
// skips a test, or fails it where everything must be there: when GASPI_CI=1 is in the environment.
// Each such function tries what a test needs, as rights alone say too little: a container, a chroot
// or a security module takes some away. A test asks before it starts anything, with the t that
// is to be skipped. It is for tests alone.
package testenv

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Need skips the test if one of the commands is not in PATH.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			Lack(t, "the command "+command+" is not in PATH: .ci/run tools installs it")
		}
	}
}

// NeedSuccess skips the test if a command fails, which tries what the test is going to
// do; what says that in the infinitive.
func NeedSuccess(t testing.TB, what, command string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput(); err != nil {
		Lack(t, fmt.Sprintf("cannot %s here: %s: %v: %s", what, command, err, bytes.TrimSpace(out)))
	}
}

// NeedListener skips the test if nothing can listen at an IP address of this host.
func NeedListener(t testing.TB, address string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		Lack(t, "cannot listen at "+address+" here: "+err.Error())
		return
	}
	l.Close()
}

// FreeAddress returns an address of this host that nobody listens on; see FreePorts.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", FreePorts(t, 1))
}

// FreePorts returns the first of n ports in a row of 127.0.0.1 that nobody listens on. They are
// below those that the system gives to a program that asks for any port, as other tests do all
// the time, so that none of them takes one before it is used, and none is given to somebody
// where nobody is to listen. No other test gets one of them before this one has ended.
func FreePorts(t testing.TB, n int) int {
	t.Helper()
	var err error
	for range 100 {
		first := 10_000 + rand.N(20_000-n)
		var claims []net.Listener
		if claims, err = claimAll(first, n); err == nil {
			t.Cleanup(func() { closeAll(claims) })
			return first
		}
		closeAll(claims)
	}
	t.Fatalf("no %d ports in a row are free: %v", n, err)
	return 0
}

// claimAll claims n ports from first on, at which nobody listens: no other test, of whichever process, has claimed one of
// them until the listeners that it returns are closed. Their addresses, in no file system, are the claims. The error says
// why one is not free.
func claimAll(first, n int) (claims []net.Listener, err error) {
	for port := first; port < first+n; port++ {
		claim, err := net.Listen("unix", fmt.Sprintf("@gaspi-test-port-%d", port))
		if err != nil {
			return claims, err
		}
		claims = append(claims, claim)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return claims, err
		}
		l.Close()
	}
	return claims, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// NeedStep skips the test unless a variable is 1, which a step of .ci/run sets: the test
// takes minutes, and more of the machine than others. It skips where GASPI_CI is 1, too.
func NeedStep(t testing.TB, variable, step string) {
	t.Helper()
	if os.Getenv(variable) != "1" {
		t.Skip(variable + " is not 1: it takes minutes and is run by .ci/run " + step)
	}
}

// Lack skips the test for a reason, which is something that this machine lacks, or
// fails it where everything must be there.
func Lack(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("GASPI_CI") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// NeedOpenFiles skips the test if this process may not have n open files.
func NeedOpenFiles(t testing.TB, n uint64) {
	t.Helper()
	var limit syscall.Rlimit // whose numbers have a sign on FreeBSD
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) < n {
		Lack(t, fmt.Sprintf("a process may have %d open files here, and the test opens %d: raise the hard limit (ulimit -Hn)", limit.Cur, n))
	}
}

// NeedHostName skips the test if the name of this host does not resolve.
func NeedHostName(t testing.TB) {
	t.Helper()
	name, err := os.Hostname()
	if err == nil {
		_, err = net.DefaultResolver.LookupHost(t.Context(), name)
	}
	if err != nil {
		Lack(t, "the name of this host does not resolve: "+err.Error())
	}
}
