package listener

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
)

const job = "job"

// A door is a listener on the loopback interface that waits for the agent of host 1.
type door struct {
	*Listener
	server *boot.Server
	site   *agent.Site
	log    testenv.Lines
}

func openDoor(t *testing.T, secure bool) *door {
	t.Helper()
	server, err := boot.NewServer(job, 2, func(base.Rank) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	d := &door{server: server}
	d.site = agent.NewSite(agent.Launcher{Log: d.log.Add, Report: func(any) {}}, hosts.Place{Name: "b", Number: 1, Ranks: 1}, nil)
	d.Listener, err = Open(Request{Job: job, Interface: "127.0.0.1", TLS: secure, Server: server, Agents: []*agent.Site{d.site}, Log: d.log.Add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// knock shakes hands with the listener.
func (d *door) knock(t *testing.T, c auth.Credentials, h auth.Hello) error {
	t.Helper()
	conn, err := net.Dial("tcp", d.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, err = auth.Client(conn, c, h, nil)
	return err
}

// TestHellosAreChecked knocks with credentials of the job, and as nobody that is expected, then as the agent.
func TestHellosAreChecked(t *testing.T) {
	d := openDoor(t, false)
	of := d.server.Authority()
	right := auth.Hello{Role: auth.RoleAgent, Job: job, From: 1, Version: agent.Version}
	for _, c := range []struct {
		name   string
		proof  auth.Credentials
		change func(*auth.Hello)
		want   string
	}{
		{"another version", of.Agent(1), func(h *auth.Hello) { h.Version++ }, "an agent that speaks version"},
		{"host without an agent", of.Agent(2), func(h *auth.Hello) { h.From = 2 }, "host 2 has an agent already, or needs none"},
		{"rank of another version", of.Rank(0), func(h *auth.Hello) { h.Role, h.From, h.Version = auth.RoleSession, 0, 999 }, "version 999"},
	} {
		h := right
		c.change(&h)
		if err := d.knock(t, c.proof, h); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want a refusal with %q", c.name, err, c.want)
		}
	}
	other := right
	other.Job = "other"
	if err := d.knock(t, of.Agent(1), other); err == nil {
		t.Error("an agent of another job was let in")
	}
	if err := d.check(other); err == nil || err.Error() != "an agent of job other; this is job job" {
		t.Errorf("another job, with the right key: %v, want a refusal", err)
	}
	if err := d.knock(t, auth.NewAuthority(job).Agent(1), right); !errors.Is(err, auth.ErrUnproven) {
		t.Errorf("another key: %v, want that the launcher has proven nothing", err)
	}
	if d.site.Connected() {
		t.Fatal("an agent was let in that is not the right one")
	}
	if err := d.knock(t, of.Agent(1), right); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "the agent has connected", d.site.Connected)
	testenv.Eventually(t, "the log has the refusals and the agent", func() bool {
		return d.log.Have("the agent of host b has connected from 127.0.0.1:") && d.log.Have("refused a connection")
	})
	if err := d.knock(t, of.Agent(1), right); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), "host 1 has an agent already") {
		t.Errorf("the same agent again: %v, want that it is refused", err)
	}
}

// TestSilentConnection: one that never begins the handshake keeps nobody outside, and ends with Close.
func TestSilentConnection(t *testing.T) {
	d := openDoor(t, false)
	stranger, err := net.Dial("tcp", d.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if err := d.knock(t, d.server.Authority().Agent(1), auth.Hello{Role: auth.RoleAgent, Job: job, From: 1, Version: agent.Version}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if n, err := stranger.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes after Close", n)
	}
	if conn, err := net.Dial("tcp", d.Addresses()[0]); err == nil {
		conn.Close()
		t.Error("somebody can connect after Close")
	}
	(*Listener)(nil).Close()
}

// TestAddresses: the one that is known to work comes first, and each once.
func TestAddresses(t *testing.T) {
	d := openDoor(t, true)
	own := d.Addresses()[0]
	_, port, _ := net.SplitHostPort(own)
	d.addresses = []string{"10.0.0.1:" + port, own}
	both := []string{own, "10.0.0.1:" + port}
	for name, got := range map[string][]string{
		"from":        d.AddressesFrom(own),
		"of":          d.AddressesOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}),
		"of the rest": append([]string{own}, d.AddressesOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 9), Port: 1})[0]),
		"of no TCP":   append([]string{own}, d.AddressesOf(&net.UnixAddr{})[0]),
	} {
		if diff := cmp.Diff(both, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	d.request.Interface = "" // it would listen at every address of this host
	if got := d.AddressesOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 7), Port: 1})[0]; got != "127.0.0.7:"+port {
		t.Errorf("%s comes first, want 127.0.0.7:%s", got, port)
	}
}

// TestOpenFails with the reason.
func TestOpenFails(t *testing.T) {
	d := openDoor(t, false)
	_, port, _ := net.SplitHostPort(d.Addresses()[0])
	for name, c := range map[string]struct{ at, ports, want string }{
		"interface": {"nosuch0", "", `there is no "nosuch0"`},
		"ports":     {"127.0.0.1", "9-8", "range of ports"},
		"taken":     {"127.0.0.1", port, "are in use"},
	} {
		_, err := Open(Request{Job: job, Interface: c.at, Ports: c.ports, Server: d.server, Log: d.log.Add})
		if err == nil || !strings.HasPrefix(err.Error(), "listen for other hosts: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
