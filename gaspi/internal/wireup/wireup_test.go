package wireup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/notify"
)

// TestTimesOfWaits has fields of Config as programs set them.
func TestTimesOfWaits(t *testing.T) {
	for _, c := range []struct {
		name                string
		field               time.Duration
		ranks, cores        int
		wantSpin, wantYield time.Duration
	}{
		{"default", 0, 4, 4, defaultSpin, defaultYield},
		{"default of ranks that share cores", 0, 5, 4, 0, defaultYield},
		{"none", -1, 1, 4, 0, 0},
		{"given", 7 * time.Millisecond, 1, 4, 7 * time.Millisecond, 7 * time.Millisecond},
		{"given for ranks that share cores", 7 * time.Millisecond, 5, 4, 7 * time.Millisecond, 7 * time.Millisecond},
	} {
		if spin, yield := spinTime(c.field, c.ranks, c.cores), yieldTime(c.field); spin != c.wantSpin || yield != c.wantYield {
			t.Errorf("%s: spins %v, yields %v; want %v and %v", c.name, spin, yield, c.wantSpin, c.wantYield)
		}
	}
}

// TestLooksOfTwoRanksOfACore has local ranks, their cores, and those that this rank is bound to.
func TestLooksOfTwoRanksOfACore(t *testing.T) {
	for _, c := range [][4]int{{4, 2, 1, twoLooks}, {8, 4, 1, twoLooks}, {4, 2, 2, 1}, {3, 2, 1, 1}, {6, 2, 1, 1}, {2, 1, 1, 1}, {2, 2, 1, 1}} {
		if n := looks(c[0], c[1], c[2]); n != c[3] {
			t.Errorf("%d ranks on %d cores, bound to %d: %d looks, want %d", c[0], c[1], c[2], n, c[3])
		}
	}
}

// A fakePolled is a transport that knows by which policy's waits it is polled.
type fakePolled struct{ by *notify.WaitPolicy }

func (f *fakePolled) PolledBy(w *notify.WaitPolicy) { f.by = w }

// The waits of a rank poll its transport, for longer where nothing arrives without.
func TestPollWhileWaiting(t *testing.T) {
	for _, only := range []bool{false, true} {
		d, f := &dialer{wait: &notify.WaitPolicy{Yield: defaultYield}}, new(fakePolled)
		if d.pollWhileWaiting(f, only); f.by != d.wait {
			t.Error("the transport is not polled by the waits of the rank")
		}
		want := defaultYield
		if only {
			want = pollYield
		}
		if d.wait.Yield != want || d.wait.PollFirst != only {
			t.Errorf("only %t: yields %v, polls first: %t; want %v", only, d.wait.Yield, d.wait.PollFirst, want)
		}
	}
}

// wiring is a job of n goroutines, rank 0, that wants a transport.
func wiring(n int, transport string) Wiring {
	return Wiring{
		Session: boot.NewLocal(n).Session(0), Transport: transport, Segments: 4, Log: slog.New(slog.DiscardHandler),
		Lost: func(*base.RankError) {}, Fallen: func(*base.RankError) {}, Say: func(string) {},
	}
}

// TestOpenRefuses has transports that cannot connect the ranks of a job.
func TestOpenRefuses(t *testing.T) {
	t.Run("loopback between processes", func(t *testing.T) {
		if e, err := Open(wiring(2, "loopback")); err == nil || !strings.Contains(err.Error(), "connects ranks of one process only; this job has 2") {
			t.Errorf("%v, %v", e, err)
		}
	})
	t.Run("rdma with TLS", func(t *testing.T) {
		t.Setenv(boot.EnvTLS, "1")
		if e, err := Open(wiring(2, "rdma")); !errors.Is(err, base.ErrNotSupported) {
			t.Errorf("%v, %v; want ErrNotSupported", e, err)
		}
	})
	t.Run("an interface that there is not", func(t *testing.T) {
		w := wiring(2, "tcp")
		w.Interface, w.InterfaceFrom = "x,y", "Config.Interface"
		if e, err := Open(w); err == nil || !strings.HasPrefix(err.Error(), "Config.Interface: ") {
			t.Errorf("%v, %v", e, err)
		}
	})
	t.Run("ports that make no sense", func(t *testing.T) {
		t.Setenv(boot.EnvPorts, "9-7")
		if e, err := Open(wiring(2, "tcp")); err == nil || !strings.HasPrefix(err.Error(), boot.EnvPorts+": ") {
			t.Errorf("%v, %v", e, err)
		}
	})
}

// TestLossMost has heartbeats as the launcher hands them out.
func TestLossMost(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 15 * time.Second, "4s": 6 * time.Second, "1s": 4500 * time.Millisecond, "0s": 0} {
		t.Setenv(boot.EnvHeartbeat, text)
		if got := LossMost(); got != want {
			t.Errorf("heartbeat %q: %v, want %v", text, got, want)
		}
	}
}

// askedSession counts the questions that a rank asks about others.
type askedSession struct {
	boot.Session
	asked int
}

func (s *askedSession) Get(ctx context.Context, r base.Rank, name string) ([]byte, error) {
	s.asked++
	return s.Session.Get(ctx, r, name)
}

// TestSharedMemoryIsFoundWithoutQuestions has two ranks meet. Goal: before, and if what all told did not fit
// into the message by which they met, one asks for where the other's memory files are found; else it does not.
func TestSharedMemoryIsFoundWithoutQuestions(t *testing.T) {
	sessions := boot.NewLocal(2)
	var locations []string
	dialers, asked := [2]*dialer{}, [2]*askedSession{}
	for r := range dialers {
		w := wiring(2, "shm")
		asked[r] = &askedSession{Session: sessions.Session(base.Rank(r))}
		w.Session = asked[r]
		d := newDialer(w, true)
		d.own.Shared = fmt.Sprintf(`{"pid":%d,"card":4}`, 1000+r)
		if err := d.publish(); err != nil {
			t.Fatal(err)
		}
		dialers[r], locations = d, append(locations, d.location())
	}
	for _, c := range []struct {
		name  string
		told  []string
		asked int
	}{
		{"before they meet", nil, 1},
		{"parts did not fit", nil, 1},
		{"rank 1 says nothing", []string{locations[0], "host\tm"}, 1},
		{"all say", locations, 0},
	} {
		asked[0].asked = 0
		if c.name != "before they meet" {
			(&Endpoint{d: dialers[0]}).Learn(c.told)
		}
		at, err := dialers[0].findShared(t.Context(), 1)
		if err != nil || at != `{"pid":1001,"card":4}` || asked[0].asked != c.asked {
			t.Errorf("%s: found at %q after %d questions (%v), want %d", c.name, at, asked[0].asked, err, c.asked)
		}
	}
}

// TestLocationFitsIntoAPart has the longest that a rank tells, and a job in which all tell too much.
func TestLocationFitsIntoAPart(t *testing.T) {
	d := &dialer{own: whereabouts{Host: strings.Repeat("h", 300), Shared: `{"pid":4194304,"card":1048576}`}}
	d.info.Size, d.info.LocalSize = mostTold, 1
	if at := d.location(); len(at) > boot.MaxPart || !strings.HasSuffix(at, d.own.Shared) {
		t.Errorf("%q has %d bytes, want at most %d with what others need", at, len(at), boot.MaxPart)
	}
	d.info.Size++
	if at := d.location(); strings.Contains(at, d.own.Shared) {
		t.Errorf("a rank of %d tells %q", d.info.Size, at)
	}
}
