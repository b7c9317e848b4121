package auth

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var someHello = Hello{Role: RoleLane, Job: "0a-F", From: 7, To: 3, Lane: 2, Version: 5}

// outcome is how both sides of a handshake ended.
type outcome struct {
	dial, accept error
	hello        Hello
}

// dialKey is Client of a lane, for whoever holds a key and nothing else.
func dialKey(conn net.Conn, k Key, me Hello) error {
	_, err := Client(conn, Credentials{Key: k}, me, nil)
	return err
}

// acceptKey is the other half of dialKey.
func acceptKey(conn net.Conn, k Key, check func(Hello) error) (h Hello, err error) {
	err = within(conn, func() error {
		_, h, err = server(conn, GateConfig{Credentials: Credentials{Key: k}, Check: check}, nil)
		return err
	})
	return h, err
}

// shake runs a handshake over a pipe in memory.
func shake(me Hello, dialer, acceptor Key, check func(Hello) error) outcome {
	a, b := net.Pipe()
	dialed := make(chan error, 1)
	go func() {
		dialed <- dialKey(a, dialer, me)
		a.Close()
	}()
	var o outcome
	o.hello, o.accept = acceptKey(b, acceptor, check)
	if o.accept != nil {
		b.Close()
	}
	o.dial = <-dialed
	b.Close()
	return o
}

func TestHandshake(t *testing.T) {
	k := NewKey()
	whole := Hello{Role: RoleAgent, Job: strings.Repeat("j", MaxJob), From: 1<<31 - 1, To: 1<<31 - 1, Lane: 1<<16 - 1, Version: 1<<16 - 1}
	for _, h := range []Hello{someHello, {Role: RoleSession, Job: "x"}, whole} {
		o := shake(h, k, k, nil)
		if o.dial != nil || o.accept != nil {
			t.Fatalf("%+v: dial %v, accept %v", h, o.dial, o.accept)
		}
		if d := cmp.Diff(h, o.hello); d != "" {
			t.Errorf("(-said +heard):\n%s", d)
		}
	}
}

func TestHandshakeRefusals(t *testing.T) {
	k := NewKey()
	long := strings.Repeat("é", maxText)
	only := func(want Hello) func(Hello) error {
		return func(h Hello) error {
			if h != want {
				return fmt.Errorf("it is %+v", h)
			}
			return nil
		}
	}
	otherJob, otherVersion := someHello, someHello
	otherJob.Job = "other"
	otherVersion.Version = 6
	for _, c := range []struct {
		name         string
		me           Hello
		dialer       Key
		check        func(Hello) error
		dial, accept string
	}{
		{"another key", someHello, NewKey(), nil, "another key", "another key"},
		{"another job", otherJob, k, only(someHello), "Job:other", "Job:other"},
		{"another version", otherVersion, k, only(someHello), "Version:6", "Version:6"},
		{"long reason", someHello, k, func(Hello) error { return errors.New(long) }, "éé", "éé"},
		{"stranger hears no reason", otherJob, NewKey(), func(Hello) error { return errors.New("secret") }, "another key", "another key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := ErrRefused
			if c.dialer != k {
				want = ErrUnproven
			}
			o := shake(c.me, c.dialer, k, c.check)
			if !errors.Is(o.dial, want) || !strings.Contains(o.dial.Error(), c.dial) {
				t.Errorf("dial: %v, want %v with %q", o.dial, want, c.dial)
			}
			if o.accept == nil || !strings.Contains(o.accept.Error(), c.accept) || o.hello != (Hello{}) && c.dialer != k {
				t.Errorf("accept: %+v %v, want an error with %q", o.hello, o.accept, c.accept)
			}
		})
	}
}

func TestDialRefusesBadHello(t *testing.T) {
	for _, c := range []struct {
		name  string
		hello Hello
		want  string
	}{
		{"no role", Hello{Job: "j"}, "no such role: 0"},
		{"role", Hello{Role: 4, Job: "j"}, "no such role: 4"},
		{"no job", Hello{Role: RoleLane}, "job id of 0 bytes"},
		{"long job", Hello{Role: RoleLane, Job: strings.Repeat("j", MaxJob+1)}, "job id of 65 bytes"},
		{"job is a path", Hello{Role: RoleLane, Job: "a/b"}, "character '/'"},
		{"from", Hello{Role: RoleLane, Job: "j", From: -1}, "negative rank"},
		{"to", Hello{Role: RoleLane, Job: "j", To: -1}, "negative rank"},
	} {
		conn, other := net.Pipe()
		if err := dialKey(conn, NewKey(), c.hello); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		conn.Close()
		other.Close()
	}
}

// opening returns the first message of someHello with a nonce of zeros.
func opening(t testing.TB) []byte {
	var b [openingSize]byte
	if err := putHello(&b, someHello, nextPlain, false); err != nil {
		t.Fatal(err)
	}
	return b[:]
}

func TestOpeningGolden(t *testing.T) {
	want := "GASPIGO\x02" + "\x01\x04\x02\x00\x05\x00\x00\x00" + "\x07\x00\x00\x00\x03\x00\x00\x00" +
		"0a-F" + strings.Repeat("\x00", MaxJob-4) + strings.Repeat("\x00", shareSize)
	if d := cmp.Diff([]byte(want), opening(t)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if openingSize != 120 || challengeSize != 40 || verdictSize != 36 {
		t.Errorf("sizes %d, %d, %d; the handshake is documented with 120, 40, 36", openingSize, challengeSize, verdictSize)
	}
}

// TestProofsGolden holds the proofs to docs/decisions/0019-a-handshake-of-four-messages.md, as
// another implementation computes them.
func TestProofsGolden(t *testing.T) {
	var k Key
	for i := range k {
		k[i] = byte(i + 1)
	}
	var tr transcript
	copy(tr.opening[:], opening(t))
	copy(tr.challenge[:], magic)
	for _, c := range []struct{ name, want, got string }{
		{"dial", "2859f33fcbea16ef8e762ede972210d6fa71ed942ea501132afff715864b9b58", hex.EncodeToString(tr.mac(k, "dial"))},
		{"accept", "f5912c18f155e17ac7c786ec6756850a4db3027e9403eea49e76f00359b423c5", hex.EncodeToString(tr.mac(k, "accept", []byte{codeWelcome, 0, 0, 0}, nil))},
		{"job id", "c7688c64f073c22a2d2575c43be4a550", k.JobID()},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

// answer feeds in to an acceptor that does not know the sender, and returns what it said.
func answer(t *testing.T, k Key, in []byte) ([]byte, error) {
	t.Helper()
	a, b := net.Pipe()
	said := make(chan []byte, 1)
	go func() {
		a.Write(in)
		a.SetReadDeadline(time.Now().Add(20 * time.Second))
		out, _ := io.ReadAll(a)
		said <- out
	}()
	accepted := make(chan error, 1)
	go func() {
		_, err := acceptKey(b, k, nil)
		b.Close()
		accepted <- err
	}()
	if len(in) < openingSize {
		a.Close() // what has been written was read: the pipe has no buffer
	}
	out := <-said
	a.Close()
	return out, <-accepted
}

func TestAcceptRefusesNonsense(t *testing.T) {
	change := func(at int, to ...byte) []byte {
		b := opening(t)
		copy(b[at:], to)
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
		want string
		said int // bytes that the sender is sent
	}{
		{"web browser", append([]byte("GET / HTTP/1.1\r\n"), make([]byte, openingSize)...)[:openingSize], "does not speak", 0},
		{"TLS", append([]byte{0x16, 3, 1, 2, 0, 1}, make([]byte, openingSize)...)[:openingSize], "does not speak", 0},
		{"zeros", make([]byte, openingSize), "does not speak", 0},
		{"handshake of earlier", change(7, 1), "version 1 of the handshake", verdictSize},
		{"handshake of later", change(7, 3), "version 3 of the handshake", verdictSize},
		{"role", change(8, 9), "no such role: 9", verdictSize},
		{"long job", change(9, 65), "job id of 65 bytes", verdictSize},
		{"no job", change(9, 0), "job id of 0 bytes", verdictSize},
		{"job longer than said", change(9, 3), "bytes are set that mean nothing", verdictSize},
		{"character in job", change(jobAt, ' '), "character ' '", verdictSize},
		{"padding", change(shareAt-1, 1), "bytes are set that mean nothing", verdictSize},
		{"gap", change(15, 2), "bytes are set that mean nothing", verdictSize},
		{"next", change(14, 3), "bytes are set that mean nothing", verdictSize},
		{"negative rank", change(19, 0x80), "negative rank", verdictSize},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, err := answer(t, NewKey(), c.in)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if len(said) != c.said {
				t.Errorf("it was told %x, want %d bytes", said, c.said)
			}
		})
	}
}

func TestDialerLearnsThatItsHelloIsNotUnderstood(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		io.ReadFull(b, make([]byte, openingSize))
		refuse(b, codeBadHello)
		b.Close()
	}()
	if err := dialKey(a, NewKey(), someHello); !errors.Is(err, ErrUnproven) || !strings.Contains(err.Error(), "another version") {
		t.Errorf("%v, want ErrUnproven that asks for the version", err)
	}
	a.Close()
}

// A recorder keeps what is written to a connection.
type recorder struct {
	net.Conn
	bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.Buffer.Write(b)
	return r.Conn.Write(b)
}
func (r *recorder) Read(b []byte) (int, error) { return r.Conn.Read(b) }

func TestReplayIsRefused(t *testing.T) {
	k := NewKey()
	a, b := net.Pipe()
	honest := &recorder{Conn: a}
	dialed := make(chan error, 1)
	go func() { dialed <- dialKey(honest, k, someHello) }()
	if _, err := acceptKey(b, k, nil); err != nil || <-dialed != nil {
		t.Fatal("the honest handshake failed: ", err)
	}
	a.Close()
	b.Close()
	recorded := honest.Bytes()
	if len(recorded) != openingSize+macSize {
		t.Fatalf("%d bytes were recorded, want %d", len(recorded), openingSize+macSize)
	}

	a, b = net.Pipe()
	defer a.Close()
	go func() {
		a.Write(recorded[:openingSize])
		io.ReadFull(a, make([]byte, challengeSize))
		a.Write(recorded[openingSize:])
		io.Copy(io.Discard, a)
	}()
	_, err := acceptKey(b, k, nil)
	b.Close()
	if err == nil || !strings.Contains(err.Error(), "a replay") {
		t.Errorf("replayed: %v, want a refusal", err)
	}
}

// TestMirrorIsRefused returns a dialer's own messages to it: an acceptor that
// does not hold the key cannot use the dialer to compute its proof.
func TestMirrorIsRefused(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		var own [openingSize]byte
		var proof [macSize]byte
		io.ReadFull(b, own[:])
		b.Write(append([]byte(magic), own[shareAt:]...))
		io.ReadFull(b, proof[:])
		b.Write(append([]byte{codeWelcome, 0, 0, 0}, proof[:]...))
		io.Copy(io.Discard, b)
	}()
	err := dialKey(a, NewKey(), someHello)
	if err == nil || !strings.Contains(err.Error(), "could not prove") {
		t.Errorf("%v, want that the other side could not prove the key", err)
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	for at := range openingSize + macSize {
		synctest.Test(t, func(t *testing.T) { // whose clock runs on where a side waits for bytes that a changed length announces
			k := NewKey()
			a, b := net.Pipe()
			dialed := make(chan error, 1)
			go func() {
				dialed <- dialKey(&flipper{Conn: a, at: at}, k, someHello)
				a.Close()
			}()
			if _, err := acceptKey(b, k, nil); err == nil {
				t.Errorf("byte %d was changed on the way, and the handshake succeeded", at)
			}
			b.Close()
			if <-dialed == nil {
				t.Errorf("byte %d was changed on the way, and the dialer did not notice", at)
			}
		})
	}
}

// A flipper changes the byte of what is written that has the number at.
type flipper struct {
	net.Conn
	at int
}

func (f *flipper) Write(b []byte) (int, error) {
	b = bytes.Clone(b)
	if f.at >= 0 && f.at < len(b) {
		b[f.at] ^= 1
	}
	f.at -= len(b)
	return f.Conn.Write(b)
}

func TestSilenceAndSlownessEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		speak func(net.Conn)
	}{
		{"silence", func(net.Conn) {}},
		{"silence after the opening", func(a net.Conn) { a.Write(opening(t)) }},
		{"one byte a second", func(a net.Conn) {
			for _, b := range opening(t) {
				time.Sleep(time.Second) // sleep: the pause of a slow peer, by the clock of the bubble
				if _, err := a.Write([]byte{b}); err != nil {
					return
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := net.Pipe()
				var speaker sync.WaitGroup
				speaker.Go(func() {
					c.speak(a)
					io.Copy(io.Discard, a)
				})
				start := time.Now()
				_, err := acceptKey(b, NewKey(), nil)
				if err == nil || !strings.Contains(err.Error(), "in time") || time.Since(start) != patience {
					t.Errorf("%v after %v; want an end after %v", err, time.Since(start), patience)
				}
				a.Close()
				b.Close()
				speaker.Wait()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go io.Copy(io.Discard, b)
		if err := dialKey(a, NewKey(), someHello); err == nil || !strings.Contains(err.Error(), "in time") {
			t.Errorf("dialing a silent side: %v", err)
		}
		a.Close()
		b.Close()
	})
}
