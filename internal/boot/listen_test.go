package boot

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestTwoRanksZero starts a second rank 0 beside the first one, in each way in which rank 0
// opens something. It wants one line that says so.
func TestTwoRanksZero(t *testing.T) {
	t.Parallel()
	const twice = "two processes have rank 0, so give each rank a number of its own; else "
	file, space := keyFile(t), NewJobID()
	at, next, other := testenv.FreeAddress(t), testenv.FreeAddress(t), testenv.FreeAddress(t)
	_, port, _ := net.SplitHostPort(next)
	byHand := []string{EnvRank + "=0", EnvSize + "=2", EnvRendezvous + "=" + at, EnvKeyFile + "=" + file}
	for _, c := range []struct {
		name string
		env  []string
		want string // where the second one is, and what else to do
	}{
		{"by hand", byHand, at + ".*choose another GASPI_RENDEZVOUS"},
		{"torchrun", append(torchrunEnv(fmt.Sprintf("127.0.0.1:%d", before(port)), 0, 2, 1), EnvKeyFile+"="+file), next + ".*choose another MASTER_PORT"},
		{"torchrun, own rendezvous", append(torchrunEnv("127.0.0.1:7", 0, 2, 1), EnvKeyFile+"="+file, EnvRendezvous+"="+other), other + ".*choose another GASPI_RENDEZVOUS"},
		{"mpirun", openMPIEnv(space, 0, 2, 2), "@gaspi-.*wait for its end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			where, do, _ := strings.Cut(c.want, ".*")
			var told int
			said, failed := runRanksUntil(t, 2, func(int) []string { return c.env }, func(line string) bool {
				is := strings.Contains(line, where) && strings.Contains(line, twice+do) && !strings.Contains(line, "\n")
				if is {
					told++
				}
				return is // the first one waits for rank 1
			})
			if told != 1 || failed < 1 {
				t.Errorf("%d failed: %q; want that one says %q", failed, said, twice+do)
			}
		})
	}
}

// before returns the port before one.
func before(port string) (n int) {
	fmt.Sscan(port, &n)
	return n - 1
}

func TestRendezvousPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := plansOfJob(t, 1)[0]
	p.meeting.addresses = []string{l.Addr().String()}
	if s, err := p.join(testenv.Context(t)); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("%v, %v; want that the address is in use", s, err)
	}
}

func TestListenAt(t *testing.T) {
	for _, c := range []struct {
		name      string
		addresses []string
		want      []string
	}{
		{"own", []string{"127.0.0.1:7"}, []string{"127.0.0.1:7"}},
		{"own of two", []string{"240.0.0.1:7", "127.0.0.1:8"}, []string{"127.0.0.1:8"}},
		{"none of these", []string{"240.0.0.1:7", "240.0.0.2:7", "240.0.0.3:8"}, []string{":7", ":8"}},
		{"twice", []string{"127.0.0.1:7", "127.0.0.1:7"}, []string{"127.0.0.1:7"}},
		{"of a link that is not here", []string{"[fe80::1%none]:7"}, []string{":7"}},
	} {
		if d := cmp.Diff(c.want, placesOf(t, c.addresses...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	m := meeting{addresses: []string{"a]:7"}}
	if got, err := m.listenAt(t.Context()); err == nil {
		t.Errorf("%v, want that this is no address", got)
	}
}

func TestElsewhere(t *testing.T) {
	for at, want := range map[string]string{
		"127.0.0.1:7":            "",
		"240.0.0.1:7":            "240.0.0.1 is no address of this host",
		"no-such-host.invalid:7": "the name no-such-host.invalid does not resolve here",
		"a]:7":                   "address a]:7: ",
	} {
		if got := Elsewhere(t.Context(), at); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}

// placesOf returns where rank 0 listens for addresses.
func placesOf(t *testing.T, addresses ...string) []string {
	t.Helper()
	m := meeting{addresses: addresses}
	places, err := m.listenAt(t.Context())
	if err != nil {
		t.Error(err)
	}
	return places
}

// linkAddress returns an IPv6 address of this host that needs a zone, which it has.
func linkAddress(t *testing.T) netip.Addr {
	t.Helper()
	all, err := address.Choose("fe80::/10", netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func TestRendezvousOfALink(t *testing.T) {
	testenv.OnLink(t, func() { meetOnLink(t) })
}

func meetOnLink(t *testing.T) {
	t.Helper()
	own := linkAddress(t)
	want := []string{netip.AddrPortFrom(own, 7).String()}
	for _, at := range []netip.Addr{own, own.WithZone("")} {
		if d := cmp.Diff(want, placesOf(t, netip.AddrPortFrom(at, 7).String())); d != "" {
			t.Errorf("%v (-want +got):\n%s", at, d)
		}
	}
	key := auth.NewKey()
	plan := func(r base.Rank) networkPlan {
		return networkPlan{
			info:      Info{Rank: r, Size: 2, LocalSize: 1, Job: key.JobID(), Host: fmt.Sprint(r)},
			meeting:   meeting{proof: auth.Credentials{Key: key}, patience: 20 * time.Second},
			heartbeat: DefaultHeartbeat,
		}
	}
	first, second := plan(0), plan(1)
	v := newEnvironment(lookupIn(map[string]string{EnvInterface: own.String()}))
	listeners, told, err := first.openRendezvous(testenv.Context(t), v, netip.Addr{})
	if err != nil || len(told) != 1 || strings.Contains(told[0], "%") {
		t.Fatalf("%v, %v; want one address, without a zone", told, err)
	}
	host, err := first.serve(listeners)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.follow(referral{told, storeKeyGiven}, true, "a test"); err != nil {
		t.Fatal(err)
	}
	other, err := second.join(testenv.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Session{host, other} {
		if got := s.Info().Rendezvous; got != own {
			t.Errorf("rank %d reaches the rendezvous at %v, want %v", s.Info().Rank, got, own)
		}
	}
	other.Close()
	host.Close()
}
