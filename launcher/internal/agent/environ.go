package agent

import (
	"os"
	"slices"
	"strings"
)

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

// Portable returns what of an environment means something on any host.
func Portable(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), isHostOwned)
}

// settle returns the environment that ranks on this host inherit when the rest
// of it, from another host, is env.
func settle(env []string) []string {
	own := slices.DeleteFunc(os.Environ(), func(kv string) bool { return !isHostOwned(kv) })
	return append(own, env...)
}
