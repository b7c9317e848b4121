package auth

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A stand is a gate at a port of the loopback interface.
type stand struct {
	address string
	passed  chan Hello // what those that passed said; they are sent "hi"
	stop    func()     // closes the listener and waits for Serve

	mu    sync.Mutex
	lines []string
}

func (s *stand) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

func startStand(t *testing.T, cfg GateConfig) *stand {
	t.Helper()
	return startStandOf(t, cfg, placesHere())
}

// startStandOf starts a gate with so many places.
func startStandOf(t *testing.T, cfg GateConfig, places int) *stand {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{address: l.Addr().String(), passed: make(chan Hello, 1000)}
	cfg.Log = func(line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, line)
	}
	g := NewGate(cfg)
	g.visitors.places = places
	served := make(chan error, 1)
	go func() {
		served <- g.Serve(l, func(conn net.Conn, h Hello) {
			io.WriteString(conn, "hi")
			conn.Close()
			s.passed <- h
		})
	}()
	s.stop = sync.OnceFunc(func() {
		l.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// visit runs the handshake at address and returns what it is sent then.
func visit(address string, k Key, me Hello, secure *tls.Config) (string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	inner, err := Client(conn, Credentials{Key: k}, me, secure)
	if err != nil {
		return "", err
	}
	got, err := io.ReadAll(inner)
	return string(got), err
}

func TestGateLetsManyPass(t *testing.T) {
	const many = 200
	testenv.NeedOpenFiles(t, 2*many+50) // both ends of each connection are here
	k := NewKey()
	s := startStand(t, GateConfig{Credentials: Credentials{Key: k}})
	var all sync.WaitGroup
	for r := range many {
		all.Go(func() {
			h := someHello
			h.From = int32(r)
			if got, err := visit(s.address, k, h, nil); got != "hi" || err != nil {
				t.Errorf("rank %d: %q, %v", r, got, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return // not all have passed
	}
	var from []int32
	for range many {
		from = append(from, (<-s.passed).From)
	}
	slices.Sort(from)
	for r, f := range from {
		if int(f) != r {
			t.Fatalf("these passed: %v", from)
		}
	}
}

func TestGateSaysWhyToThoseWithTheKey(t *testing.T) {
	k := NewKey()
	s := startStand(t, GateConfig{Credentials: Credentials{Key: k}, Check: func(h Hello) error {
		if h.Job != "mine" {
			return fmt.Errorf("job %s; this is mine", h.Job)
		}
		return nil
	}})
	if _, err := visit(s.address, k, someHello, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "this is mine") {
		t.Errorf("other job: %v", err)
	}
	if _, err := visit(s.address, NewKey(), someHello, nil); !errors.Is(err, ErrUnproven) || strings.Contains(err.Error(), "mine") {
		t.Errorf("other key: %v", err)
	}
	s.stop()
	if log := s.log(); strings.Count(log, "refused a connection from 127.0.0.1:") != 2 || !strings.Contains(log, "another key") || !strings.Contains(log, "this is mine") {
		t.Errorf("log:\n%s", log)
	}
	if len(s.passed) != 0 {
		t.Errorf("somebody passed: %+v", <-s.passed)
	}
}

func TestGateWithTLS(t *testing.T) {
	k := NewKey()
	server, client, err := k.TLS("j")
	if err != nil {
		t.Fatal(err)
	}
	_, otherJob, err := k.TLS("other")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan Hello, 10)
	s := startStand(t, GateConfig{Credentials: Credentials{Key: k}, TLS: server, Failed: func(h Hello) { failed <- h }})
	if got, err := visit(s.address, k, someHello, client); got != "hi" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if d := cmp.Diff(someHello, <-s.passed); d != "" {
		t.Error(d)
	}
	if _, err := visit(s.address, k, someHello, otherJob); err == nil {
		t.Error("the authority of another job was accepted")
	}
	if _, err := visit(s.address, NewKey(), someHello, client); !errors.Is(err, ErrUnproven) {
		t.Errorf("without the key: %v, want a refusal before TLS", err)
	}
	bare := client.Clone()
	bare.Certificates = nil
	if _, err := visit(s.address, k, someHello, bare); err == nil {
		t.Error("a client without certificate was accepted")
	}
	if _, err := visit(s.address, k, someHello, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "GASPI_TLS") {
		t.Errorf("a client that speaks no TLS: %v", err)
	}
	plain := startStand(t, GateConfig{Credentials: Credentials{Key: k}})
	if _, err := visit(plain.address, k, someHello, client); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "GASPI_TLS") {
		t.Errorf("a client that speaks TLS to a gate that does not: %v", err)
	}
	s.stop()
	if n := len(failed); n != 2 || <-failed != someHello || <-failed != someHello {
		t.Errorf("%d connections failed after the check, want 2 of %+v: those with the key whose TLS was refused", n, someHello)
	}
}

// TestGateWithTLSHidesWhatIsSent reads what passes on the wire after the first
// handshake.
func TestGateWithTLSHidesWhatIsSent(t *testing.T) {
	k := NewKey()
	authority, client, err := k.TLS("j")
	if err != nil {
		t.Fatal(err)
	}
	a, b := net.Pipe()
	wire := &recorder{Conn: a}
	done := make(chan error, 1)
	const secret = "the quick brown fox"
	go func() {
		inner, err := Client(wire, Credentials{Key: k}, someHello, client)
		if err == nil {
			_, err = io.WriteString(inner, secret)
		}
		done <- err
	}()
	inner, _, err := server(b, GateConfig{Credentials: Credentials{Key: k}, TLS: authority}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(secret))
	if _, err := io.ReadFull(inner, got); err != nil || string(got) != secret || <-done != nil {
		t.Fatalf("%q, %v", got, err)
	}
	a.Close()
	b.Close()
	if sent := wire.Bytes(); bytes.Contains(sent, []byte(secret)) || bytes.Count(sent, []byte(magic)) != 1 {
		t.Errorf("the text, or the second handshake, is readable in the %d bytes on the wire", len(sent))
	}
}

// TestGateMakesRoomWhenAllPlacesAreTaken fills a gate with strangers of both kinds and
// sees who comes let in at once, each time.
func TestGateMakesRoomWhenAllPlacesAreTaken(t *testing.T) {
	for _, c := range []struct {
		name string
		said []byte
	}{{"silent", nil}, {"half an opening", opening(t)[:60]}, {"an opening", opening(t)}} {
		t.Run(c.name, func(t *testing.T) {
			k := NewKey()
			const places = 16
			s := startStandOf(t, GateConfig{Credentials: Credentials{Key: k}}, places)
			for range 4 * places {
				stranger, err := net.Dial("tcp", s.address)
				if err != nil {
					t.Fatal(err)
				}
				defer stranger.Close()
				stranger.Write(c.said)
			}
			begun := time.Now()
			for range places {
				if got, err := visit(s.address, k, someHello, nil); got != "hi" || err != nil {
					t.Fatalf("%q, %v; want that strangers make room", got, err)
				}
			}
			t.Logf("%d visits took %v", places, time.Since(begun))
			if !strings.Contains(s.log(), errCrowded.Error()) {
				t.Errorf("the log does not say so:\n%s", s.log())
			}
		})
	}
}

func TestGateEndsWithItsListener(t *testing.T) {
	k := NewKey()
	s := startStand(t, GateConfig{Credentials: Credentials{Key: k}})
	silent, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	silent.Write(opening(t))
	if _, err := io.ReadFull(silent, make([]byte, challengeSize)); err != nil {
		t.Fatal(err)
	}
	s.stop() // must not wait for the silent one's ten seconds
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the handshake under way goes on")
	}
	if log := s.log(); log != "" {
		t.Errorf("a visitor of a gate that closes was called refused: %s", log)
	}
}

// TestStrangersAllocateLittle fills all places of a gate with strangers that
// have said what one can say without the key.
func TestStrangersAllocateLittle(t *testing.T) {
	const places = 1000
	testenv.NeedOpenFiles(t, 2*places+50)
	s := startStandOf(t, GateConfig{Credentials: Credentials{Key: NewKey()}}, places)
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	if _, err := visit(s.address, NewKey(), someHello, nil); !errors.Is(err, ErrUnproven) {
		t.Fatal(err)
	}
	before := used()
	strangers := make([]net.Conn, places)
	for i := range strangers {
		var err error
		if strangers[i], err = net.Dial("tcp", s.address); err != nil {
			t.Fatal(err)
		}
		defer strangers[i].Close()
	}
	first := opening(t)
	reply := make([]byte, challengeSize)
	answered := 0
	for _, c := range strangers {
		c.Write(first)
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.ReadFull(c, reply); err == nil {
			answered++
		}
		if answered == places {
			break
		}
	}
	after := used()
	t.Logf("%d strangers under way: %d bytes more, %d each", answered, int64(after)-int64(before), (int64(after)-int64(before))/int64(places))
	// Both ends of a connection are here. Each stranger takes about 2 KiB of heap and a stack
	// of 2 to 8 KiB, as it happens.
	if after > before+places*12<<10 {
		t.Errorf("%d bytes before, %d with %d strangers", before, after, answered)
	}
}

func TestLogIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		l := limitedLog{print: func(s string) { lines = append(lines, s) }}
		for i := range 100 {
			l.line(fmt.Sprint(i))
		}
		time.Sleep(period + time.Second) // sleep: by the clock of the bubble the period is over
		l.line("later")
		want := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "and 90 more refusals that are not shown", "later"}
		if d := cmp.Diff(want, lines); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}
