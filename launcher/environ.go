package launcher

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// checkEnv refuses additions to the environment that are not "K=V".
func checkEnv(env []string) error {
	for _, kv := range env {
		key, _, ok := strings.Cut(kv, "=")
		switch {
		case !ok || key == "":
			return fmt.Errorf("environment entry %q: expected NAME=VALUE", kv)
		case strings.ContainsRune(kv, 0):
			return fmt.Errorf("environment entry %q contains a zero byte, which no program can be given", kv)
		case slices.Contains(reserved[:], key):
			return fmt.Errorf("environment entry %q: the launcher sets %s itself", kv, key)
		}
	}
	return nil
}

// rankEnviron returns the environment of a rank: what this process has, with
// the additions, and with own last. Entries that are not replaced stay as they
// are and where they are, odd ones included.
func rankEnviron(inherited, added, own []string) []string {
	replaced := map[string]bool{}
	for _, name := range reserved {
		replaced[name] = true
	}
	last := map[string]int{} // of an added name, the entry that counts
	for i, kv := range added {
		key, _, _ := strings.Cut(kv, "=")
		replaced[key] = true
		last[key] = i
	}
	for _, kv := range own {
		key, _, _ := strings.Cut(kv, "=")
		replaced[key] = true
		last[key] = -1
	}
	env := make([]string, 0, len(inherited)+len(added)+len(own))
	for _, kv := range inherited {
		if key, _, ok := strings.Cut(kv, "="); !ok || !replaced[key] {
			env = append(env, kv)
		}
	}
	for i, kv := range added {
		if key, _, _ := strings.Cut(kv, "="); last[key] == i {
			env = append(env, kv)
		}
	}
	return append(env, own...)
}

// reserved are the variables that only the launcher sets.
var reserved = [...]string{
	boot.EnvRank, boot.EnvSize, boot.EnvLocalRank, boot.EnvLocalSize, boot.EnvJob, boot.EnvFD,
	boot.EnvHost, boot.EnvRendezvous, boot.EnvKeyFile, boot.EnvKey, boot.EnvServer, boot.EnvOutputTTY, boot.EnvOutputWidth, boot.EnvLocalCores,
}

// The variables that package gaspi reads and the launcher only hands on.
const (
	envTransport = "GASPI_TRANSPORT"
	envInterface = "GASPI_INTERFACE"
)

// transportRDMA is the transport that programs have only if they were built with it.
const transportRDMA = "rdma"

// hostOwned are the variables that say something about a host or a login there.
// Ranks on another host get those of its agent; all others they get from here.
var hostOwned = [...]string{
	"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "HOSTNAME", "LOGNAME", "MAIL", "OLDPWD", "PWD", "SHELL", "SHLVL",
	"SSH_AUTH_SOCK", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "TMPDIR", "USER", "XAUTHORITY", "_",
}

// hostOwnedPrefixes are the beginnings of more of them: what Slurm tells a task,
// and the login session.
var hostOwnedPrefixes = [...]string{"PMI_", "PMIX_", "SLURM", "XDG_"}

func isHostOwned(kv string) bool {
	key, _, _ := strings.Cut(kv, "=")
	return slices.Contains(hostOwned[:], key) ||
		slices.ContainsFunc(hostOwnedPrefixes[:], func(p string) bool { return strings.HasPrefix(key, p) })
}

// portable returns what of an environment means something on any host.
func portable(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), isHostOwned)
}

// settle returns the environment that ranks on this host inherit when the rest
// of it, from another host, is env.
func settle(env []string) []string {
	own := slices.DeleteFunc(os.Environ(), func(kv string) bool { return !isHostOwned(kv) })
	return append(own, env...)
}
