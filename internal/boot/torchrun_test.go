package boot

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// torchrunEnv is what torchrun says to rank r of size on hosts of local ranks each.
func torchrunEnv(address string, r, size, local int) []string {
	host, port, _ := net.SplitHostPort(address)
	return []string{
		fmt.Sprintf("RANK=%d", r), fmt.Sprintf("WORLD_SIZE=%d", size), fmt.Sprintf("LOCAL_RANK=%d", r%local), fmt.Sprintf("LOCAL_WORLD_SIZE=%d", local),
		fmt.Sprintf("GROUP_RANK=%d", r/local), "MASTER_ADDR=" + host, "MASTER_PORT=" + port,
	}
}

func TestTorchrun(t *testing.T) {
	secret := auth.NewKey().Text()
	for _, c := range []struct {
		name  string
		local int
		more  []string
	}{
		{"one host", 3, nil},
		{"one host, key in a file", 3, []string{EnvKeyFile + "=" + keyFile(t)}},
		{"three hosts, key in a file", 1, []string{EnvKeyFile + "=" + keyFile(t)}},
		{"three hosts, key in a variable, TLS", 1, []string{EnvKey + "=" + secret, EnvTLS + "=1"}},
		{"three hosts, address in brackets", 1, []string{EnvKey + "=" + secret, "MASTER_ADDR=[::1]"}},
		{"three hosts, own rendezvous", 1, []string{EnvKey + "=" + secret, EnvRendezvous + "=" + testenv.FreeAddress(t)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains(c.more, "MASTER_ADDR=[::1]") {
				testenv.NeedListener(t, "::1")
			}
			address := testenv.FreeAddress(t)
			store, err := net.Listen("tcp", address) // as the agent of torchrun does
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			said, failed := runRanks(t, 3, func(r int) []string { return append(torchrunEnv(address, r, 3, c.local), c.more...) })
			var where []string
			for r := range 3 {
				where = append(where, fmt.Sprintf("%d of %d on host ", r%c.local, c.local))
			}
			wantJob(t, said, failed, where)
		})
	}
}

// TestAddressesOfTorchrun gives values that can be no address to jobs of each layout, whether
// or not they need the address.
func TestAddressesOfTorchrun(t *testing.T) {
	layouts := map[string][]string{
		"one host":       {"LOCAL_WORLD_SIZE=2"},
		"with a key":     {"LOCAL_WORLD_SIZE=2", EnvKey + "=" + auth.NewKey().Text()},
		"two hosts":      {"LOCAL_WORLD_SIZE=1", "LOCAL_RANK=0", EnvKey + "=" + auth.NewKey().Text()},
		"own rendezvous": {"LOCAL_WORLD_SIZE=2", EnvKey + "=" + auth.NewKey().Text(), EnvRendezvous + "=127.0.0.1:7"},
		"one rank":       {"WORLD_SIZE=1", "LOCAL_WORLD_SIZE=1", "RANK=0", "LOCAL_RANK=0"},
	}
	bad := map[string][]string{
		starters.TorchrunPort: {"", "x", "-1", "0", "65536", "99999999999", "29500 ", "[1]"},
		"MASTER_ADDR":         {"", "a]", "[a", "[a]", "[", "]", "[]", "[::1", "::1]", "[[::1]]", "[127.0.0.1]", "[::1]:7", "h:7", "h,i", "a b", " h", "h\n", "\xff", "h/i", "fe80::1%", "1.2.3.4%lo", "224.0.0.1", "ff02::1", "[ff02::1]", strings.Repeat("h", 256)},
	}
	for layout, more := range layouts {
		for variable, values := range bad {
			for _, value := range values {
				env := map[string]string{}
				for _, kv := range slices.Concat(torchrunEnv("127.0.0.1:29500", 1, 2, 2), more) {
					name, text, _ := strings.Cut(kv, "=")
					env[name] = text
				}
				env[variable], env[EnvJoinTimeout] = value, "1s"
				v := newEnvironment(lookupIn(env))
				s, err := started{starters.Of(&v.Reader)}.begin(testenv.Context(t), v, reports{})
				if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s=%.80q: expected", variable, value)) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s, %s=%q: %v, %v; want one line that names it", layout, variable, value, s, err)
				}
			}
		}
	}
}
