package boot

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestRankZeroSaysWhy lets rank 1 of 2 come in ways that are refused, or not at all, and
// wants the error of rank 0 to say what was wrong.
func TestRankZeroSaysWhy(t *testing.T) {
	file := keyFile(t)
	for _, c := range []struct {
		name string
		host string   // where the ranks meet
		more []string // what is different at rank 1; nil if there is none
		want string
	}{
		{"another key", "127.0.0.1", []string{EnvKeyFile + "=" + keyFile(t)}, "refused, the first from 127.0.0.1:"},
		{"another size", "127.0.0.1", []string{EnvSize + "=3"}, "a connection was refused, from rank 1: it takes itself for rank 1 of 3 of job"},
		{"another job", "127.0.0.1", []string{EnvJob + "=other"}, "it is of job other; this is job"},
		{"a rank that is none", "127.0.0.1", []string{EnvSize + "=8", EnvRank + "=7"}, "attach rank 7 to a job of 2"},
		{"a name of nobody", "nobody.invalid", nil, "rank 0 cannot find where it is to be reached itself: lookup nobody.invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it is a wait
			_, port, _ := net.SplitHostPort(testenv.FreeAddress(t))
			said, failed := runRanks(t, 1+min(len(c.more), 1), func(r int) []string {
				env := []string{EnvSize + "=2", EnvRendezvous + "=" + net.JoinHostPort(c.host, port), EnvKeyFile + "=" + file, EnvJoinTimeout + "=3s", fmt.Sprintf("%s=%d", EnvRank, r)}
				if r == 1 {
					env = append(env, c.more...)
				}
				return env
			})
			_, why, ok := strings.Cut(said[0], "ended after 3s, the limit of GASPI_JOIN_TIMEOUT; rank 0 has come; ")
			if !ok || !strings.Contains(why, c.want) || failed != len(said)-1 {
				t.Errorf("%d failed: %q; want that rank 0 says %q", failed, said, c.want)
			}
		})
	}
}
