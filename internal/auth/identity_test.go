package auth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

const jobName = "0a-F"

// meet runs a handshake between holders of two credentials.
func meet(me Hello, dialer, acceptor Credentials) outcome {
	a, b := net.Pipe()
	dialed := make(chan error, 1)
	go func() {
		_, err := Client(a, dialer, me, nil)
		dialed <- err
		a.Close()
	}()
	var o outcome
	_, o.hello, o.accept = server(b, GateConfig{Credentials: acceptor}, nil)
	b.Close()
	o.dial = <-dialed
	return o
}

// TestNobodyIsAnother lets everybody of a job, and of another one with the same key, claim
// to be everybody, at both ends of every kind of connection.
func TestNobodyIsAnother(t *testing.T) {
	job := NewAuthority(jobName)
	forger := NewAuthority(jobName)
	forger.key = job.key // a rank has it
	sameNumber := job.Rank(0)
	sameNumber.Identity.certificate = job.Agent(0).Identity.certificate
	all := map[string]Credentials{
		"rank 0": job.Rank(0), "rank 1": job.Rank(1), "agent 0": job.Agent(0), "agent 1": job.Agent(1), "launcher": job.Launcher(),
		"key alone": {Key: job.key}, "forged rank 0": forger.Rank(0), "forged rank 1": forger.Rank(1),
		"forged agent 0": forger.Agent(0), "forged launcher": forger.Launcher(), "mixed": sameNumber,
	}
	routes := []struct {
		hello    Hello
		from, to string
	}{
		{Hello{Role: RoleLane, Job: jobName, From: 0, To: 1}, "rank 0", "rank 1"},
		{Hello{Role: RoleSession, Job: jobName, From: 1}, "rank 1", "launcher"},
		{Hello{Role: RoleAgent, Job: jobName, From: 0}, "agent 0", "launcher"},
	}
	cells := 0
	for _, r := range routes {
		for from, dialer := range all {
			for to, acceptor := range all {
				cells++
				o := meet(r.hello, dialer, acceptor)
				// An attacker's own side may believe what it likes.
				if honest := to == r.to; honest && (o.accept == nil) != (from == r.from) {
					t.Errorf("%v: %s was accepted as %s: %v", r.hello.Role, from, r.from, o.accept)
				}
				if honest := from == r.from; honest && (o.dial == nil) != (to == r.to) {
					t.Errorf("%v: %s took %s for %s: %v", r.hello.Role, from, to, r.to, o.dial)
				}
				if from == r.from && to != r.to && errors.Is(o.dial, ErrRefused) {
					t.Errorf("%v: %s believes the refusal of %s, which is not %s: %v", r.hello.Role, from, to, r.to, o.dial)
				}
			}
		}
	}
	t.Logf("%d pairs", cells)
}

// TestIdentityOfAnotherJobIsNone uses the same authority, as if it served two jobs.
func TestIdentityOfAnotherJobIsNone(t *testing.T) {
	job := NewAuthority(jobName)
	other := *job
	other.job = "other"
	hello := Hello{Role: RoleLane, Job: jobName, From: 0, To: 1}
	if o := meet(hello, other.Rank(0), job.Rank(1)); o.accept == nil || !errors.Is(o.dial, ErrRefused) {
		t.Errorf("accept %v, dial %v; want refusals", o.accept, o.dial)
	}
}

// TestHolderOfTheKeyCannotStandBetween lets a rank talk to two others with shares of its
// own, as it must to read what they say to each other.
func TestHolderOfTheKeyCannotStandBetween(t *testing.T) {
	job := NewAuthority(jobName)
	hello := Hello{Role: RoleSession, Job: jobName, From: 1}
	victim, launcher, attacker := job.Rank(1), job.Launcher(), job.Rank(2)
	var seen [shownSize]byte // what the victim shows to the attacker
	a, b := net.Pipe()
	go func() {
		Client(a, victim, hello, nil)
		a.Close()
	}()
	var tr transcript
	io.ReadFull(b, tr.opening[:])
	copy(tr.challenge[:], magic)
	copy(tr.challenge[len(magic):], tr.share())
	b.Write(tr.challenge[:])
	shown, err := readProof(b, attacker.Key, &tr, true)
	if err != nil {
		t.Fatal(err)
	}
	copy(seen[:], shown)
	b.Close()

	// The recorded bytes, in another handshake with the launcher.
	mine, its := net.Pipe()
	refused := make(chan error, 1)
	go func() {
		_, _, err := server(its, GateConfig{Credentials: launcher}, nil)
		its.Close()
		refused <- err
	}()
	var own transcript
	if err := putHello(&own.opening, hello, nextSealed, true); err != nil {
		t.Fatal(err)
	}
	copy(own.opening[shareAt:], own.share())
	mine.Write(own.opening[:])
	if err := readChallenge(mine, &own); err != nil {
		t.Fatal(err)
	}
	mine.Write(append(own.mac(attacker.Key, "dial", seen[:]), seen[:]...))
	io.Copy(io.Discard, mine)
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "does not prove to be rank 1") {
		t.Errorf("what rank 1 has shown to another: %v, want that it is not rank 1", err)
	}

	// The victim's public key and certificate, and a signature of its own.
	public := seen[:ed25519.PublicKeySize]
	attacker.Identity.private = append(attacker.Identity.private.Seed(), public...)
	copy(attacker.Identity.certificate[:], seen[ed25519.PublicKeySize:])
	if o := meet(hello, attacker, launcher); o.accept == nil || !strings.Contains(o.accept.Error(), "does not prove to be rank 1") {
		t.Errorf("a signature of its own: %v, want that it is not rank 1", o.accept)
	}
}

// TestShownGolden holds what a side shows to docs/decisions/0019-a-handshake-of-four-messages.md,
// as another implementation computes it.
func TestShownGolden(t *testing.T) {
	_, _, tr := goldenSecret(t)
	seed := func(from byte) []byte {
		b := make([]byte, ed25519.SeedSize)
		for i := range b {
			b[i] = from + byte(i)
		}
		return b
	}
	i := &Identity{private: ed25519.NewKeyFromSeed(seed(32))}
	public := i.private.Public().(ed25519.PublicKey)
	copy(i.certificate[:], ed25519.Sign(ed25519.NewKeyFromSeed(seed(0)), subject{kindRank, 7, jobName}.signed(public)))
	got := sha256.Sum256(i.show(tr, "dial"))
	if want := "1194c1e765348b3e324074a5c35d083999d9284a6839ecd27da0343a38f82f29"; hex.EncodeToString(got[:]) != want {
		t.Errorf("SHA-256 of what is shown is %x, want %s", got, want)
	}
}

func TestCredentialsTextAndBack(t *testing.T) {
	job := NewAuthority(jobName)
	for _, c := range []Credentials{{Key: NewKey()}, job.Rank(3)} {
		back, err := ParseCredentials(" \n" + c.Text() + " \r\n")
		if err != nil || back.Text() != c.Text() || back.Key != c.Key || (back.Identity == nil) != (c.Identity == nil) {
			t.Errorf("%v; they did not come back", err)
		}
	}
	c := job.Rank(0)
	printed := fmt.Sprintf("%v %+v %#v %x %s", c, &c, struct{ C Credentials }{c}, c, c.String())
	if strings.Contains(printed, c.Text()[:8]) || strings.Count(printed, hidden) != 5 {
		t.Errorf("printed as %q", printed)
	}
	first, second, _ := strings.Cut(c.Text(), "\n")
	for name, text := range map[string]string{
		"short": first + "\n" + second[:200], "long": c.Text() + "00", "no digits": first + "\n" + strings.Repeat("x", len(second)),
		"a third line": c.Text() + "\n" + second, "a bad key": "x" + c.Text()[1:], "two identities": second + "\n" + second,
	} {
		if _, err := ParseCredentials(text); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") || strings.Contains(err.Error(), second[:8]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParseCredentials checks that what is accepted is what Text writes.
func FuzzParseCredentials(f *testing.F) {
	f.Add(NewKey().Text())
	f.Add(NewAuthority(jobName).Rank(1).Text())
	f.Fuzz(func(t *testing.T, in string) {
		c, err := ParseCredentials(in)
		if err != nil {
			return
		}
		want := strings.ToLower(strings.Join(strings.Fields(in), "\n"))
		if c.Text() != want {
			t.Errorf("%q was read as %q", in, c.Text())
		}
	})
}
