package testenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// onLinkEnv makes TestOnLink the test that is run where there is no link.
const onLinkEnv = "TESTENV_TEST_LINK"

// TestOnLink runs this program in a network namespace without a link. OnLink makes one, also
// where everything must be there, and skips where a namespace cannot have one.
func TestOnLink(t *testing.T) {
	if os.Getenv(onLinkEnv) != "" {
		OnLink(t, func() {
			if !hasLink(t) {
				t.Error("there is no link")
			}
		})
		return
	}
	Need(t, "unshare", "ip")
	NeedSuccess(t, "make a network namespace", "unshare", "--net", "true")
	for _, c := range []struct{ name, before, want string }{
		{"made", "true", "--- PASS: TestOnLink"},
		{"impossible", `dir=$(mktemp -d) && trap 'rm -r "$dir"' EXIT && printf '#!/bin/sh\nexit 7\n' > "$dir/ip" && chmod +x "$dir/ip" && PATH=$dir:$PATH`, "--- SKIP: TestOnLink"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := "ip link set lo up && " + c.before + ` && "$0" "$@"`
			cmd := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "-c", script, os.Args[0], "-test.run=^TestOnLink$", "-test.v")
			cmd.Env = append(os.Environ(), onLinkEnv+"=1", "GASPI_CI=1")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v; want %q in\n%s", err, c.want, out)
			}
		})
	}
}
