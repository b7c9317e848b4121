package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestContact(t *testing.T) {
	t.Setenv("SLURMD_NODENAME", "h2")
	job := auth.NewAuthority("j")
	node := func(host int) string {
		text, err := json.Marshal(Proof{Host: host, Credentials: job.Agent(int32(host)).Text()})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	version := fmt.Sprintf(`{"version":%d`, Version)
	cases := []struct {
		name, line string
		host       int
		want       string // of the error
	}{
		{"host", version + `,"nodes":{"*":` + node(3) + "}}\n", 3, ""},
		{"node", version + `,"nodes":{"h1":` + node(4) + `,"h2":` + node(5) + "}}\n", 5, ""},
		{"other node", version + `,"nodes":{"h1":` + node(4) + "}}\n", 0, `SLURMD_NODENAME="h2" is none of the nodes`},
		{"no credentials", version + `,"nodes":{"*":{"host":1}}}` + "\n", 0, "makes no sense"},
		{"nothing", "", 0, "an agent is started by gaspi-run"},
		{"cut", version, 0, "an agent is started by gaspi-run"},
		{"nonsense", "hello\n", 0, "makes no sense"},
		{"version", `{"version":3}` + "\n", 0,
			fmt.Sprintf("speaks version %d to agents and that of the launcher version 3: install the same one on both hosts, or use --stage", Version)},
	}
	for _, c := range cases {
		got, err := readContact(strings.NewReader(c.line))
		if c.want == "" && (err != nil || got.host != c.host) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// A picky listener ends its first connections, as a launcher may among strangers.
type pickyListener struct {
	net.Listener
	left int
}

func (l *pickyListener) Accept() (net.Conn, error) {
	for ; l.left > 0; l.left-- {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn.Close()
	}
	return l.Listener.Accept()
}

func TestAgentTriesUntilTheHandshakeIsThrough(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	job := auth.NewAuthority("j")
	served, came := make(chan error, 1), make(chan auth.Hello, 1)
	go func() {
		gate := auth.NewGate(auth.GateConfig{Credentials: job.Launcher(), Check: func(h auth.Hello) error {
			if h.From != 1 {
				return fmt.Errorf("host %d is not expected", h.From)
			}
			return nil
		}})
		served <- gate.Serve(&pickyListener{l, 3}, func(conn net.Conn, h auth.Hello) { conn.Close(); came <- h })
	}()
	c := Contact{Job: "j", Addresses: []string{l.Addr().String()}, host: 1, proof: job.Agent(1)}
	conn, _, err := c.connect()
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if h := <-came; h.From != 1 || h.Role != auth.RoleAgent {
		t.Errorf("%+v came", h)
	}
	c.host, c.proof = 2, job.Agent(2)
	if _, _, err := c.connect(); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), "host 2 is not expected") {
		t.Errorf("%v, want the launcher's refusal at once", err)
	}
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestDialAny(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead, alive := testenv.FreeAddress(t), l.Addr().String()
	defer l.Close()
	for _, addresses := range [][]string{{alive}, {dead, alive}, {alive, dead}, {dead, dead, alive, dead}} {
		conn, reached, err := dialAny(addresses)
		if err != nil || reached != alive {
			t.Errorf("%v: reached %q, %v", addresses, reached, err)
			continue
		}
		conn.Close()
	}
	if _, _, err := dialAny([]string{dead, dead}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody there: %v", err)
	}
	if _, _, err := dialAny(nil); err == nil {
		t.Error("no address was reached")
	}
}

func TestEnvironmentThatBelongsToAHost(t *testing.T) {
	there := []string{"A=1", "HOME=/there", "SLURM_NODEID=1", "XDG_RUNTIME_DIR=x", "SSH_AUTH_SOCK=y", "PATH=p", "USERS=2", "odd"}
	want := []string{"A=1", "PATH=p", "USERS=2", "odd"}
	got := Portable(there)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("HOME", "/here")
	t.Setenv("SLURM_NODEID", "5")
	got = settle(got)
	if !slices.Contains(got, "HOME=/here") || !slices.Contains(got, "SLURM_NODEID=5") || !slices.Equal(got[len(got)-len(want):], want) {
		t.Errorf("%q", got)
	}
}

// FuzzReadContact checks that whatever comes first is a sentence or a host with
// credentials.
func FuzzReadContact(f *testing.F) {
	f.Add([]byte("hello\n"))
	f.Add(fmt.Appendf(nil, `{"version":%d,"nodes":{"*":{"host":1}}}`+"\n", Version))
	text, _ := json.Marshal(Contact{Version: Version, Job: "j", Addresses: []string{"127.0.0.1:1"},
		Nodes: map[string]Proof{AnyNode: {Host: 1, Credentials: auth.NewAuthority("j").Agent(1).Text()}}})
	f.Add(append(text, '\n'))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := readContact(bytes.NewReader(in))
		if err == nil && (c.Version != Version || c.proof.Key == auth.Key{}) {
			t.Errorf("%q was read as %+v", in, c)
		}
	})
}
