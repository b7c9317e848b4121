package boot

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestRankZeroSaysWhy lets rank 1 of 2 come in ways that are refused, or not at all, and
// wants the error of rank 0 to say what was wrong.
func TestRankZeroSaysWhy(t *testing.T) {
	t.Parallel()
	file := keyFile(t)
	for _, c := range []struct {
		name string
		host string   // where the ranks meet
		more []string // what is different at rank 1; nil if there is none
		want string
	}{
		{"another key", "127.0.0.1", []string{EnvKeyFile + "=" + keyFile(t)}, "refused, the first from 127.0.0.1:"},
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

// TestRendezvousOfALinkThatIsNotHere has the only address of the rendezvous with the zone of an
// interface that this host does not have.
func TestRendezvousOfALinkThatIsNotHere(t *testing.T) {
	t.Parallel()
	file := keyFile(t)
	said, failed := runRanks(t, 1, func(int) []string {
		return []string{EnvRank + "=1", EnvSize + "=2", EnvRendezvous + "=[fe80::1%nosuch0]:7", EnvKeyFile + "=" + file, EnvJoinTimeout + "=1s"}
	})
	want := `no way to the rendezvous at [fe80::1%nosuch0]:7: the zone of an address has to be an interface of this host, and there is no "nosuch0": leave the zone out`
	if failed != 1 || !strings.Contains(said[0], want) || strings.Contains(said[0], "\n") {
		t.Errorf("%d failed: %q; want one line with %q", failed, said[0], want)
	}
}

// TestSizesThatDiffer has rank 1 of another size than rank 0. Both end with both sizes, long before
// the limit.
func TestSizesThatDiffer(t *testing.T) {
	file, at := keyFile(t), testenv.FreeAddress(t)
	start := time.Now()
	said, _ := runRanks(t, 2, func(r int) []string {
		return []string{fmt.Sprintf("%s=%d", EnvRank, r), fmt.Sprintf("%s=%d", EnvSize, 2+r), EnvRendezvous + "=" + at, EnvKeyFile + "=" + file, EnvJoinTimeout + "=1h"}
	})
	for r, want := range []string{"rank 1 is gone: it has not joined: it takes itself for rank 1 of 3 of job", "refused this process: it takes itself for rank 1 of 3 of job"} {
		if !strings.Contains(said[r], want) || !strings.Contains(said[r], "it is rank 1 of 2 of job") || strings.Contains(said[r], EnvJoinTimeout) {
			t.Errorf("rank %d, after %v: %q, want %q, and no limit", r, time.Since(start), said[r], want)
		}
	}
}

// TestRankBeyondTheSize has a rank whose number the job does not have. It says what it takes itself
// for, which rank 0 cannot know.
func TestRankBeyondTheSize(t *testing.T) {
	t.Parallel()
	file, at := keyFile(t), testenv.FreeAddress(t)
	said, _ := runRanksUntil(t, 2, func(r int) []string {
		return []string{fmt.Sprintf("%s=%d", EnvRank, 7*r), fmt.Sprintf("%s=%d", EnvSize, 2+6*r), EnvRendezvous + "=" + at, EnvKeyFile + "=" + file}
	}, func(line string) bool { return strings.Contains(line, "rank 7") }) // rank 0 waits for rank 1
	if !strings.Contains(said[1], "as rank 7 of 8: ") || !strings.Contains(said[1], "attach rank 7 to a job of 2") {
		t.Errorf("%q, want both sizes", said[1])
	}
}
