package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Credentials are what a process of a job proves to others with. They do not print.
type Credentials struct {
	Key Key // the secret of the job

	// Identity tells this process from others of the job. Nil where nobody has handed
	// any out: whoever holds the key can then be everybody.
	Identity *Identity
}

// An Identity is a key pair, and the word of the job's authority on whose it is. Both
// sides of a connection show theirs, or none does.
type Identity struct {
	authority   ed25519.PublicKey
	private     ed25519.PrivateKey
	certificate [ed25519.SignatureSize]byte
}

// Layout of the proof of identity that a side sends: its public key, the certificate, and a
// signature of the transcript under that key.
//
//	shown                | 0 public key, 32 | 32 certificate, 64 | 96 signature, 64 |
//
// The certificate is the authority's Ed25519 signature of
//
//	| "gaspi-go certificate" | kind, 1 | number, 4 | length of job, 1 | job | public key, 32 |
//
// and the other signature that of "gaspi-go identity " and the side, dial or accept,
// followed by SHA-256 of opening, challenge, and what ties them to a TLS connection.
const (
	shownSize    = ed25519.PublicKeySize + 2*ed25519.SignatureSize
	identitySize = ed25519.PublicKeySize + ed25519.SeedSize + ed25519.SignatureSize
)

// A subject is whose identity it is.
type subject struct {
	kind   byte
	number int32
	job    string
}

// The kinds of subjects. Their numbers are on the wire.
const (
	kindRank     = 1
	kindAgent    = 2
	kindLauncher = 3
)

// String names the subject.
func (s subject) String() string {
	switch s.kind {
	case kindRank:
		return fmt.Sprintf("rank %d of job %s", s.number, s.job)
	case kindAgent:
		return fmt.Sprintf("the agent of host %d of job %s", s.number, s.job)
	}
	return "the launcher of job " + s.job
}

// claimed is who the side that connected says it is.
func (h Hello) claimed() subject {
	if h.Role == RoleAgent {
		return subject{kindAgent, h.From, h.Job}
	}
	return subject{kindRank, h.From, h.Job}
}

// wanted is who the other side must be. A rendezvous that has an identity is a launcher.
func (h Hello) wanted() subject {
	if h.Role == RoleLane {
		return subject{kindRank, h.To, h.Job}
	}
	return subject{kindLauncher, 0, h.Job}
}

// signed is what the authority signs.
func (s subject) signed(public []byte) []byte {
	b := append([]byte("gaspi-go certificate"), s.kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.number))
	b = append(append(b, byte(len(s.job))), s.job...)
	return append(b, public...)
}

// An Authority hands out the credentials of one job. It belongs to a launcher, and
// nothing of it that would let others do the same leaves the process.
type Authority struct {
	job     string
	key     Key
	private ed25519.PrivateKey
}

// NewAuthority returns the authority of a job, with a key that no other job has.
func NewAuthority(job string) *Authority {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic("auth: no Ed25519 key: " + err.Error()) // the random source never returns an error
	}
	return &Authority{job: job, key: NewKey(), private: private}
}

// Launcher returns the credentials of the launcher, made anew at each call.
func (a *Authority) Launcher() Credentials { return a.issue(subject{kindLauncher, 0, a.job}) }

// Rank returns the credentials of a rank, made anew at each call.
func (a *Authority) Rank(n int32) Credentials { return a.issue(subject{kindRank, n, a.job}) }

// Agent returns the credentials of the agent of a host, made anew at each call.
func (a *Authority) Agent(host int32) Credentials { return a.issue(subject{kindAgent, host, a.job}) }

func (a *Authority) issue(s subject) Credentials {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic("auth: no Ed25519 key: " + err.Error())
	}
	return Credentials{Key: a.key, Identity: &Identity{
		authority:   a.private.Public().(ed25519.PublicKey),
		private:     private,
		certificate: [ed25519.SignatureSize]byte(ed25519.Sign(a.private, s.signed(public))),
	}}
}

// show returns what a side says of itself; nothing for nil.
func (i *Identity) show(t *transcript, side string) []byte {
	if i == nil {
		return nil
	}
	b := append([]byte(nil), i.private.Public().(ed25519.PublicKey)...)
	b = append(b, i.certificate[:]...)
	return append(b, ed25519.Sign(i.private, t.vow(side))...)
}

// vow is what a side signs.
func (t *transcript) vow(side string) []byte {
	h := t.hash()
	return append([]byte("gaspi-go identity "+side), h[:]...)
}

// check is verify, and on nil that nothing is shown.
func (i *Identity) check(shown []byte, s subject, t *transcript, side string) error {
	if i == nil && len(shown) > 0 {
		return errors.New("one side has credentials from a launcher and the other a key from a file: start all ranks in the same way")
	}
	if i == nil {
		return nil
	}
	return i.verify(shown, s, t, side)
}

// verify reports what is wrong with what a peer has shown that must be s.
func (i *Identity) verify(shown []byte, s subject, t *transcript, side string) error {
	if len(shown) != shownSize {
		return fmt.Errorf("it does not prove to be %v: it shows no identity", s)
	}
	public := ed25519.PublicKey(shown[:ed25519.PublicKeySize])
	rest := shown[ed25519.PublicKeySize:]
	certificate, signature := rest[:ed25519.SignatureSize], rest[ed25519.SignatureSize:]
	if !ed25519.Verify(i.authority, s.signed(public), certificate) || !ed25519.Verify(public, t.vow(side), signature) {
		return fmt.Errorf("it does not prove to be %v: its identity is another's", s)
	}
	return nil
}

// Text returns the credentials for a pipe, a descriptor or a file that only the user
// can read; never for a log, an argument or a variable of the environment. The first
// line is the key as 64 hexadecimal digits; the second, unless there is no identity,
// 256 of them: | 0 authority's public key, 32 | 32 own seed, 32 | 64 certificate, 64 |.
func (c Credentials) Text() string {
	if c.Identity == nil {
		return c.Key.Text()
	}
	return c.Key.Text() + "\n" + c.Identity.Text()
}

// Text is the second line of that of credentials.
func (i *Identity) Text() string {
	b := append([]byte(nil), i.authority...)
	b = append(b, i.private.Seed()...)
	return hex.EncodeToString(append(b, i.certificate[:]...))
}

// ParseCredentials reads what Text returned, or a key alone; white space around it is
// ignored. Its errors do not contain any of s.
func ParseCredentials(s string) (Credentials, error) {
	first, second, two := strings.Cut(strings.TrimSpace(s), "\n")
	b, err := hex.DecodeString(strings.TrimSpace(second))
	if err != nil || two && len(b) != identitySize {
		first = s // such as two keys, which are none
	}
	k, err := ParseKey(first)
	if err != nil || !two {
		return Credentials{Key: k}, err
	}
	i := &Identity{authority: b[:ed25519.PublicKeySize], private: ed25519.NewKeyFromSeed(b[ed25519.PublicKeySize:][:ed25519.SeedSize])}
	copy(i.certificate[:], b[ed25519.PublicKeySize+ed25519.SeedSize:])
	return Credentials{Key: k, Identity: i}, nil
}

// String hides the credentials.
func (c Credentials) String() string { return hidden }

// Format hides the identity from every verb of package fmt.
func (i *Identity) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) }

// Format hides the credentials from every verb of package fmt.
func (c Credentials) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) }

// MarshalText hides the credentials from encoders such as encoding/json.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(hidden), nil }
