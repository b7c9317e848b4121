package testenv

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

// linkEnv is set in a namespace that OnLink has made.
const linkEnv = "GASPI_TEST_LINK"

// addLink makes a link in a network namespace, and runs the command that follows it there.
const addLink = `ip link set lo up && ip addr add fe80::1/64 dev lo nodad && exec "$0" "$@"`

// OnLink runs a test that needs an IPv6 address of a link (fe80::/10). It runs test here if this
// host has such an address. Otherwise it runs the test t, which is no part of another one, again
// in a network namespace that has one. It skips t where a namespace cannot have one either, as
// where the kernel has no IPv6, whatever GASPI_CI says: no installation mends that.
func OnLink(t *testing.T, test func()) {
	t.Helper()
	if os.Getenv(linkEnv) != "" || hasLink(t) {
		test()
		return
	}
	Need(t, "unshare", "ip", "sh")
	NeedSuccess(t, "make a network namespace", "unshare", "--net", "true")
	inside := []string{"--net", "sh", "-c", addLink}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(inside, "true")...).CombinedOutput(); err != nil {
		t.Skipf("neither this host nor a network namespace has an IPv6 address of a link: %v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append(inside, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), linkEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in a network namespace: %v\n%s", err, out)
	}
}

// hasLink reports whether an interface that is up has an IPv6 address of its link.
func hasLink(t *testing.T) bool {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if ok && i.Flags&net.FlagUp != 0 && n.IP.To4() == nil && n.IP.IsLinkLocalUnicast() {
				return true
			}
		}
	}
	return false
}
