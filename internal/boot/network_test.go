package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A rendezvous is the gate of a server on the loopback interface.
type rendezvous struct {
	address string
	secure  bool
	lines   chan string // what the gate logs
}

func (v *rendezvous) log(line string) { v.lines <- line }

// logged waits for n lines of the log.
func (v *rendezvous) logged(t *testing.T, n int) string {
	t.Helper()
	var all []string
	for len(all) < n {
		select {
		case line := <-v.lines:
			all = append(all, line)
		case <-testenv.Context(t).Done():
			t.Fatalf("%d lines in the log, want %d:\n%s", len(all), n, strings.Join(all, "\n"))
		}
	}
	return strings.Join(all, "\n")
}

// startRendezvous returns a server as a launcher has it, that kills by
// announcing the death.
func startRendezvous(t *testing.T, size int, secure bool) (*Server, *rendezvous) {
	t.Helper()
	s := startServer(t, size)
	s.vanish = 20 * time.Millisecond
	v := &rendezvous{secure: secure, lines: make(chan string, 1000)}
	cfg := auth.GateConfig{Credentials: s.Credentials(), Check: s.Check, Log: v.log}
	if secure {
		var err error
		if cfg.TLS, _, err = s.Credentials().Key.TLS(s.job); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v.address = l.Addr().String()
	done := make(chan error, 1)
	go func() {
		done <- auth.NewGate(cfg).Serve(l, func(conn net.Conn, h auth.Hello) {
			if err := s.Serve(conn, base.Rank(h.From)); err != nil {
				v.log(err.Error())
			}
		})
	}()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, v
}

// meeting is how rank r joins.
func (v *rendezvous) meeting(s *Server, r base.Rank) meeting {
	return meeting{addresses: []string{v.address}, proof: s.Authority().Rank(int32(r)), secure: v.secure, patience: time.Hour}
}

func infoOf(s *Server, r base.Rank) Info {
	return Info{Rank: r, Size: s.hub.size, LocalSize: 1, Job: s.job, Host: fmt.Sprint(r)}
}

func joinOverNetwork(t *testing.T, s *Server, v *rendezvous, r base.Rank) *client {
	t.Helper()
	c, err := v.meeting(s, r).join(t.Context(), infoOf(s, r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestJoinRefusals(t *testing.T) {
	s, v := startRendezvous(t, 2, false)
	joinOverNetwork(t, s, v, 0)
	s.Announce(Failure{Rank: 1, Reason: "host lost"})
	alone, tlsRank := v.meeting(s, 1), v.meeting(s, 1)
	alone.proof.Identity = nil
	tlsRank.secure = true
	for _, c := range []struct {
		name    string
		meeting meeting
		info    Info
		want    string
	}{
		{"identity of another", v.meeting(s, 0), infoOf(s, 1), "does not prove to be rank 1"},
		{"key alone", alone, infoOf(s, 1), "shows no identity"},
		{"rank that is there", v.meeting(s, 0), infoOf(s, 0), "a process has joined as rank 0 already"},
		{"rank taken for dead", v.meeting(s, 1), infoOf(s, 1), "taken for dead"},
		{"no such rank", v.meeting(s, 2), infoOf(s, 2), "no such rank"},
		{"TLS on one side", tlsRank, infoOf(s, 1), "GASPI_TLS"},
	} {
		_, err := c.meeting.join(testenv.Context(t), c.info)
		if !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), v.address) {
			t.Errorf("%s: %v; want a refusal with %q and %s", c.name, err, c.want, v.address)
		}
	}
	log := v.logged(t, 6)
	if strings.Count(log, "refused a connection") != 6 || strings.Contains(log, s.Credentials().Key.Text()[:8]) {
		t.Errorf("want six refusals without the key, got:\n%s", log)
	}
}

// TestKeyDoesNotTravel reads all that the rendezvous sends to a rank.
func TestKeyDoesNotTravel(t *testing.T) {
	s, v := startRendezvous(t, 1, false)
	conn := silentRank(t, s, v, 0)
	in := bufio.NewScanner(conn)
	in.Scan() // the hello of the server, behind which the hub knows the rank
	sent := in.Text()
	s.hub.put(0, "x", []byte("v"))
	if err := s.hub.get(0, 0, "x"); err != nil {
		t.Fatal(err)
	}
	for in.Scan() && !strings.Contains(in.Text(), `"kind":"value"`) {
		sent += in.Text()
	}
	sent += in.Text()
	if !strings.Contains(sent, `"kind":"hello"`) || !strings.Contains(sent, `"kind":"value"`) {
		t.Errorf("sent: %s; want a hello and a value", sent)
	}
	if strings.Contains(sent, "key") || strings.Contains(sent, s.Credentials().Key.Text()[:16]) {
		t.Errorf("the key travels: %s", sent)
	}
}

func TestServerChecksWhoComes(t *testing.T) {
	s, _ := startRendezvous(t, 2, false)
	good := auth.Hello{Role: auth.RoleSession, Job: s.job, From: 1, Version: protocolVersion}
	lane, version := good, good
	lane.Role = auth.RoleLane
	version.Version++
	for _, c := range []struct {
		name  string
		hello auth.Hello
		want  string
	}{
		{"good", good, ""},
		{"lane", lane, "no place for a lane"},
		{"version", version, "speaks version 7 of the rendezvous"},
	} {
		err := s.Check(c.hello)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestJoinTriesAllAddressesUntilOneIsThere(t *testing.T) {
	early, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := early.Addr().String()
	early.Close()
	s, v := startRendezvous(t, 1, false)
	m := v.meeting(s, 0)
	m.addresses = []string{nobody, v.address}
	c, err := m.join(testenv.Context(t), infoOf(s, 0))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()

	m.addresses, m.patience = []string{nobody}, 50*time.Millisecond
	if _, err := m.join(testenv.Context(t), infoOf(s, 0)); err == nil || !strings.Contains(err.Error(), "no rendezvous at "+nobody+" after 50ms") {
		t.Errorf("nobody there: %v", err)
	}
	m.patience = time.Hour
	if _, err := m.join(over(), infoOf(s, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestSilentListenerEndsWithTheContext joins where somebody accepts and says nothing.
func TestSilentListenerEndsWithTheContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(testenv.Context(t))
	go func() {
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			io.ReadFull(conn, make([]byte, 1))
		}
		cancel()
		<-ctx.Done()
	}()
	m := meeting{addresses: []string{l.Addr().String()}, proof: auth.Credentials{Key: auth.NewKey()}, patience: time.Hour}
	if _, err := m.join(ctx, Info{Size: 1, Job: "j"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

// failureAt waits for the next failure that a session reports.
func failureAt(t *testing.T, s Session) Failure {
	t.Helper()
	select {
	case f, ok := <-s.Failures():
		if !ok {
			t.Fatal("the feed was closed")
		}
		return f
	case <-testenv.Context(t).Done():
		t.Fatal("no failure was reported")
	}
	return Failure{}
}

func TestConnectionThatEndsIsAFailure(t *testing.T) {
	s, v := startRendezvous(t, 3, false)
	reported := make(chan string, 1)
	s.OnError(func(r base.Rank, err error) { reported <- fmt.Sprintf("rank %d: %v", r, err) })
	watcher := joinOverNetwork(t, s, v, 0)
	joinOverNetwork(t, s, v, 1).wire.Break()
	want := Failure{Rank: 1, Reason: "its connection to the rendezvous ended without goodbye"}
	if d := cmp.Diff(want, failureAt(t, watcher)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := <-reported; !strings.HasPrefix(got, "rank 1: its connection") {
		t.Errorf("reported %q", got)
	}
}

func TestLauncherKnowsBetterWhyAConnectionEnded(t *testing.T) {
	s, v := startRendezvous(t, 2, false)
	s.vanish = time.Hour
	watcher := joinOverNetwork(t, s, v, 0)
	joinOverNetwork(t, s, v, 1).wire.Break()
	s.Announce(Failure{Rank: 1, Reason: "killed by signal 9"})
	if f := failureAt(t, watcher); f.Reason != "killed by signal 9" {
		t.Errorf("%+v, want the launcher's reason", f)
	}
}

func TestLastWordsOfARemoteRankCount(t *testing.T) {
	s, v := startRendezvous(t, 2, false)
	watcher := joinOverNetwork(t, s, v, 0)
	c := joinOverNetwork(t, s, v, 1)
	watcher.Get(over(), 1, "x")
	s.Announce(Failure{Rank: 1, Left: true, Reason: "exit status 0"}) // the agent was faster
	if err := c.Put("x", []byte("last words")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if got, err := watcher.Get(testenv.Context(t), 1, "x"); err != nil || string(got) != "last words" {
		t.Errorf("%q, %v", got, err)
	}
	if f := failureAt(t, watcher); !f.Left {
		t.Errorf("%+v, want that it left", f)
	}
}

// TestEndsAreToldInTheOrderOfAnnouncements: the last words of rank 1 are waited for, and the
// ends of ranks that are announced after it wait, too: of one with a connection that has
// ended, of one on this host, and of one that has never joined.
func TestEndsAreToldInTheOrderOfAnnouncements(t *testing.T) {
	t.Parallel()
	s, v := startRendezvous(t, 5, false)
	s.vanish = time.Millisecond // and what a connection says does not come before
	watcher := joinOverNetwork(t, s, v, 0)
	joinOverNetwork(t, s, v, 1)
	ended := joinOverNetwork(t, s, v, 2)
	join(t, s, 3)
	for r := base.Rank(1); r < 5; r++ {
		s.Announce(Failure{Rank: r, Reason: "killed by signal 9"})
		if r == 2 {
			ended.wire.Break()
		}
	}
	for r := base.Rank(1); r < 5; r++ {
		if f := failureAt(t, watcher); f.Rank != r || f.Reason != "killed by signal 9" {
			t.Errorf("%+v, want the end of rank %d", f, r)
		}
	}
}

// silentRank joins with a proper handshake and hello, and then says nothing.
func silentRank(t *testing.T, s *Server, v *rendezvous, r base.Rank) net.Conn {
	t.Helper()
	conn, err := v.meeting(s, r).connect(t.Context(), infoOf(s, r), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	line, err := encode(message{Kind: kindHello, Version: protocolVersion, Job: s.job, Rank: r, Size: s.hub.size})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(line); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestSilenceIsDeath(t *testing.T) {
	t.Parallel()
	s, v := startRendezvous(t, 3, false)
	s.SetHeartbeat(time.Second)
	watcher := joinOverNetwork(t, s, v, 0)
	silent := silentRank(t, s, v, 1)
	go io.Copy(io.Discard, silent)
	if f := failureAt(t, watcher); f.Rank != 1 || f.Left || f.Reason != "no sign of life for 1s" {
		t.Errorf("%+v", f)
	}
	// The watcher, which only waits, has been alive all the time.
	if err := watcher.Put("x", nil); err != nil {
		t.Error(err)
	}
	if watcher.Lost() != nil {
		t.Error("a rank that sends beats took its server for lost")
	}
}

func TestSilentServerIsLost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k := auth.NewKey()
	go auth.NewGate(auth.GateConfig{Credentials: auth.Credentials{Key: k}}).Serve(l, func(conn net.Conn, _ auth.Hello) {
		defer conn.Close()
		line, _ := encode(message{Kind: kindHello, Version: protocolVersion, Job: "j", Rank: 1, Size: 2, Key: k.Text(), Beat: 100, Hosted: true})
		conn.Write(line)
		io.Copy(io.Discard, conn)
	})
	c, err := meeting{addresses: []string{l.Addr().String()}, proof: auth.Credentials{Key: k}, patience: 20 * time.Second}.join(testenv.Context(t), Info{Rank: 1, Size: 2, Job: "j"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if f := failureAt(t, c); f != (Failure{Rank: 0, Reason: "no sign of life for 100ms"}) {
		t.Errorf("%+v, want that rank 0 is gone", f)
	}
	if _, err := c.Get(testenv.Context(t), 0, "x"); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "rank 0, which held the rendezvous of the job, is gone") || strings.Contains(err.Error(), "launcher") {
		t.Errorf("%v, want ErrLost that names rank 0 and no launcher", err)
	}
	if c.Lost() == nil {
		t.Error("Lost() is false")
	}
}

func TestManySessionsOverTCP(t *testing.T) {
	const size = 256
	testenv.NeedOpenFiles(t, 4*size)
	s, v := startRendezvous(t, size, false)
	sessions := make([]*client, size)
	var all sync.WaitGroup
	for r := range base.Rank(size) {
		all.Go(func() {
			c, err := v.meeting(s, r).join(testenv.Context(t), infoOf(s, r))
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
				return
			}
			sessions[r] = c
			if err := c.Put("x", fmt.Append(nil, r)); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
			for _, peer := range []base.Rank{(r + 1) % size, (r + size - 1) % size, size / 2} {
				if got, err := c.Get(testenv.Context(t), peer, "x"); err != nil || string(got) != fmt.Sprint(peer) {
					t.Errorf("rank %d: rank %d put %q, %v", r, peer, got, err)
				}
			}
			if err := c.Fence(testenv.Context(t), "f", "w"); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, c := range sessions {
		all.Go(func() { c.Close() })
	}
	all.Wait()
}

func TestRankThatTalksNonsenseOverTheNetworkIsGone(t *testing.T) {
	s, v := startRendezvous(t, 2, false)
	watcher := joinOverNetwork(t, s, v, 0)
	conn := silentRank(t, s, v, 1)
	io.WriteString(conn, "nonsense\n")
	if f := failureAt(t, watcher); f.Rank != 1 || !strings.Contains(f.Reason, "malformed message") {
		t.Errorf("%+v", f)
	}
}
