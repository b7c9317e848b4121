package supervise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
)

// CheckAdded refuses additions to the environment that are not "K=V", or that the launcher makes
// itself.
func CheckAdded(env []string) error {
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

// environ returns the environment of a rank: what this process has, with
// the additions, and with own last. Entries that are not replaced stay as they
// are and where they are, odd ones included.
func environ(inherited, added, own []string) []string {
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
	boot.EnvHost, boot.EnvRendezvous, boot.EnvKeyFile, boot.EnvKey, boot.EnvServer, boot.EnvOutputTTY, boot.EnvOutputWidth, boot.EnvLocalCores, status.EnvFD, netstat.EnvFD,
}
