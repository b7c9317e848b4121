package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// SystemCongestion is the congestion control that sockets have unless they ask for
// another; empty if the system does not say.
func SystemCongestion() string {
	name, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// CanIsolate is why Job.Congestion cannot be set here, nil if it can. A library's
// sockets take the default of their network, and only a network namespace
// of their own can have another without anybody else noticing.
func CanIsolate() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can make a network namespace for them")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return errors.New("no ip in PATH to set up a network namespace for them; on Debian, apt-get install iproute2")
	}
	cmd := command(context.Background(), "true", launch{}, SystemCongestion())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("no network namespace can be set up for them: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// isolated is the command that sets up a fresh network namespace, in which there is
// nothing but a loopback interface, and then becomes the launcher.
func isolated(congestion, launcher string, args []string) (string, []string) {
	const script = `ip link set lo up && echo "$0" >/proc/sys/net/ipv4/tcp_congestion_control && exec "$@"`
	return "/bin/sh", append([]string{"-c", script, congestion, launcher}, args...)
}
