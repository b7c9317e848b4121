package auth

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sealedPair returns both sides of a session over a pipe in memory, and what each has
// written to it.
func sealedPair(t testing.TB, c GateConfig, dialer Credentials) (dialed, accepted net.Conn, out, back *recorder) {
	t.Helper()
	a, b := net.Pipe()
	out, back = &recorder{Conn: a}, &recorder{Conn: b}
	done := make(chan error, 1)
	go func() {
		var err error
		dialed, err = Client(out, dialer, Hello{Role: RoleSession, Job: "j", From: 1}, nil)
		done <- err
	}()
	accepted, _, err := server(back, c, nil)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return dialed, accepted, out, back
}

func TestSealedCarriesEverything(t *testing.T) {
	c := Credentials{Key: NewKey()}
	dialed, accepted, out, back := sealedPair(t, GateConfig{Credentials: c}, c)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	text := bytes.Repeat([]byte("GASPI_SECRET=in the clear "), 10_000)
	for _, way := range []struct{ from, to net.Conn }{{dialed, accepted}, {accepted, dialed}} {
		go func() {
			for rest := text; len(rest) > 0; {
				n := min(1+random.IntN(3*maxRecord), len(rest))
				way.from.Write(rest[:n])
				rest = rest[n:]
			}
		}()
		got := make([]byte, len(text))
		if _, err := io.ReadFull(way.to, got); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%v; what came is not what was sent", err)
		}
	}
	for _, r := range []*recorder{out, back} {
		if bytes.Contains(r.Bytes(), []byte("SECRET")) || len(r.Bytes()) < len(text) {
			t.Errorf("the text is readable in %d bytes on the wire", len(r.Bytes()))
		}
	}
}

// TestRecordsGolden holds records to docs/decisions/0019-a-handshake-of-four-messages.md, as
// another implementation computes them.
func TestRecordsGolden(t *testing.T) {
	secret, salt, _ := goldenSecret(t)
	a, b := net.Pipe()
	defer a.Close()
	s, err := newSealed(a, secret, salt, "dial", "accept")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		s.Write([]byte("one"))
		s.Write([]byte("another"))
		a.Close()
	}()
	got, err := io.ReadAll(b)
	want := "03008e86f94e74ca6e33e304a10b38d570879b297a" + "0700400fa57fa48b566195be9f3ee8d1a85beb0ca9caf7a292"
	if d := cmp.Diff(want, hex.EncodeToString(got)); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// goldenSecret returns the secret of the golden tests: the bytes 101 to 132 as X25519 secret,
// the key of the bytes 1 to 32, and opening and challenge with shares of zeros.
func goldenSecret(t testing.TB) (secret, salt []byte, tr *transcript) {
	for i := range 32 {
		secret = append(secret, byte(101+i))
	}
	for i := range 32 {
		secret = append(secret, byte(1+i))
	}
	tr = &transcript{}
	copy(tr.opening[:], opening(t))
	copy(tr.challenge[:], magic)
	h := tr.hash()
	return secret, h[:], tr
}

// sealedBytes returns what a side of the golden session sends for the pieces.
func sealedBytes(t testing.TB, pieces ...string) []byte {
	secret, salt, _ := goldenSecret(t)
	wire := &recorder{Conn: discard{}}
	s, err := newSealed(wire, secret, salt, "dial", "accept")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		s.Write([]byte(p))
	}
	return wire.Bytes()
}

type discard struct{ net.Conn }

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// unseal returns what a reader of the golden session takes from in.
func unseal(t testing.TB, in []byte) ([]byte, error) {
	secret, salt, _ := goldenSecret(t)
	s, err := newSealed(&script{in: bytes.NewReader(in)}, secret, salt, "accept", "dial")
	if err != nil {
		t.Fatal(err)
	}
	return io.ReadAll(s)
}

// TestEveryChangeOfRecordsIsNoticed changes, repeats, drops and swaps what is on the wire.
func TestEveryChangeOfRecordsIsNoticed(t *testing.T) {
	one, two := sealedBytes(t, "one"), sealedBytes(t, "one", "another")[len(sealedBytes(t, "one")):]
	whole := append(bytes.Clone(one), two...)
	if got, err := unseal(t, whole); string(got) != "oneanother" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	for at := range whole {
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[at] ^= 1 << bit
			got, err := unseal(t, changed)
			if err == nil || len(got) > 3 || at < len(one) && len(got) > 0 {
				t.Errorf("bit %d of byte %d was changed, and %q came, %v", bit, at, got, err)
			}
		}
	}
	for name, in := range map[string][]byte{
		"repeated": append(bytes.Clone(one), one...), "first dropped": two, "swapped": append(bytes.Clone(two), one...),
		"cut": whole[:len(whole)-1], "cut in a head": whole[:len(one)+1],
	} {
		if got, err := unseal(t, in); err == nil || len(got) > 3 {
			t.Errorf("%s: %q came, %v", name, got, err)
		}
	}
}

// TestMirroredRecordsAreRefused returns a side's own records to it.
func TestMirroredRecordsAreRefused(t *testing.T) {
	secret, salt, _ := goldenSecret(t)
	s, err := newSealed(&script{in: bytes.NewReader(sealedBytes(t, "mine"))}, secret, salt, "dial", "accept")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Read(make([]byte, 8)); err == nil {
		t.Errorf("%d bytes of its own came back", n)
	}
}

// TestSealedReadGoesOnAfterTimeouts gives the reader one byte at a time, and a time limit
// that is over before each.
func TestSealedReadGoesOnAfterTimeouts(t *testing.T) {
	secret, salt, _ := goldenSecret(t)
	in := sealedBytes(t, "one", "another")
	s, err := newSealed(&script{in: &stutter{rest: in}}, secret, salt, "accept", "dial")
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	timeouts := 0
	for p := make([]byte, 32); ; {
		n, err := s.Read(p)
		got = append(got, p[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			timeouts++
		} else if err != nil {
			break
		}
	}
	if string(got) != "oneanother" || timeouts != len(in) {
		t.Errorf("%q after %d timeouts, want %d", got, timeouts, len(in))
	}
}

// A stutter gives a byte at a time, each after a timeout.
type stutter struct {
	rest []byte
	due  bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	if s.due = !s.due; s.due {
		return 0, os.ErrDeadlineExceeded
	}
	p[0], s.rest = s.rest[0], s.rest[1:]
	return 1, nil
}

// FuzzUnseal checks that nobody without the keys makes a reader take anything, whatever
// follows what the peer has sent.
func FuzzUnseal(f *testing.F) {
	f.Add(uint8(0), []byte{3, 0})
	f.Add(uint8(1), []byte("\x00\x40"))
	f.Add(uint8(2), sealedBytes(f, "one", "another", "third")[:60])
	texts := []string{"one", "another"}
	f.Fuzz(func(t *testing.T, honest uint8, in []byte) {
		sent := texts[:int(honest)%3]
		want, begin := "", sealedBytes(t, sent...)
		for _, s := range sent {
			want += s
		}
		all := sealedBytes(t, "one", "another", "third")[len(begin):]
		got, err := unseal(t, append(begin, in...))
		if bytes.HasPrefix(in, all[:min(len(all), 21)]) {
			return // the fuzzer was given the next record
		}
		if string(got) != want || err == nil && len(in) > 0 {
			t.Errorf("%q came, %v; want %q and an error", got, err, want)
		}
	})
}
