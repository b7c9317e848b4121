package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestPMIStaysOpenAfterAnError has a process manager that kills processes which break off: the
// connection of one that has found an error is open until it ends.
func TestPMIStaysOpenAfterAnError(t *testing.T) {
	begun := func(ctx context.Context, conn net.Conn) (*pmi1, error) {
		p := newPMI1(conn)
		return p, p.begin(ctx)
	}
	const welcome = pmi1Welcome + pmi1Maxes + pmi1Space
	opened := pmiWelcome + framed("cmd=fullinit-response;rc=0;size=2;")
	opening := func(ctx context.Context, conn net.Conn) (*pmi, error) {
		p, _, err := openPMI(ctx, conn, "7.0", 1)
		return p, err
	}
	over := func(ctx context.Context, s store, rank int) error {
		plan := networkPlan{serves: rank == 0}
		plan.info.Size, plan.meeting.patience = 2, longestJoin
		_, err := plan.overStore(ctx, s, &variables{lookup: lookupIn(nil)}, rank == 1, netip.Addr{})
		return err
	}
	for _, c := range []struct {
		name, answers string
		call          func(context.Context, net.Conn) error
	}{
		{"PMI-1 of another version", "cmd=response_to_init rc=-1 msg=no\n", func(ctx context.Context, conn net.Conn) error {
			_, err := begun(ctx, conn)
			return err
		}},
		{"PMI-1 that takes this process for no rank", "cmd=initack\ncmd=set size=0\ncmd=set rank=0\ncmd=set debug=0\n", func(ctx context.Context, conn net.Conn) error {
			_, _, err := newPMI1(conn).introduce(ctx, 0)
			return err
		}},
		{"PMI-1 that does not end", welcome + "cmd=finalize_ack rc=1\n", func(ctx context.Context, conn net.Conn) error {
			p, err := begun(ctx, conn)
			return errors.Join(err, p.close(ctx))
		}},
		{"PMI-1 at rank 0", welcome + "cmd=put_result rc=-1\n", func(ctx context.Context, conn net.Conn) error {
			p, err := begun(ctx, conn)
			return errors.Join(err, over(ctx, p, 0))
		}},
		{"PMI-1 at rank 1", welcome + "cmd=barrier_out\ncmd=get_result rc=0 value=h:1\ncmd=get_result rc=0 value=" + auth.NewKey().Text() + "\n", func(ctx context.Context, conn net.Conn) error {
			p, err := begun(ctx, conn)
			return errors.Join(err, over(ctx, p, 1))
		}},
		{"PMI-2 of another version", "cmd=response_to_init rc=-1\n", func(ctx context.Context, conn net.Conn) error {
			_, err := opening(ctx, conn)
			return err
		}},
		{"PMI-2 that does not end", opened + framed("cmd=finalize-response;rc=1;"), func(ctx context.Context, conn net.Conn) error {
			p, err := opening(ctx, conn)
			return errors.Join(err, p.close(ctx))
		}},
		{"PMI-2 at rank 0", opened + framed("cmd=kvs-put-response;rc=1;"), func(ctx context.Context, conn net.Conn) error {
			p, err := opening(ctx, conn)
			return errors.Join(err, over(ctx, p, 0))
		}},
		{"PMI-2 at rank 1", opened + framed("cmd=kvs-fence-response;rc=1;"), func(ctx context.Context, conn net.Conn) error {
			p, err := opening(ctx, conn)
			return errors.Join(err, over(ctx, p, 1))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, manager, err := socketPair()
			if err != nil {
				t.Fatal(err)
			}
			defer manager.Close()
			if _, err := manager.WriteString(c.answers); err != nil {
				t.Fatal(err)
			}
			if err := c.call(testenv.Context(t), conn); err == nil {
				t.Error("there is no error")
			}
			runtime.GC()
			runtime.GC()
			if !isOpen(t, manager) {
				t.Error("the manager sees the end of the connection")
			}
		})
	}
}

// isOpen reports whether the other end of a connection is there. It takes what that has sent.
func isOpen(t *testing.T, socket *os.File) bool {
	t.Helper()
	for {
		n, _, err := syscall.Recvfrom(int(socket.Fd()), make([]byte, 1<<16), syscall.MSG_DONTWAIT)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return true
		case err != nil:
			t.Fatal(err)
		case n == 0:
			return false
		}
	}
}

// TestVariablesAreCheckedBeforeTheManager gives a process a variable that makes no sense: it ends
// with a sentence, and its manager has not heard of it.
func TestVariablesAreCheckedBeforeTheManager(t *testing.T) {
	for variable, value := range map[string]string{
		EnvRendezvous: "h", EnvJob: "a/b", EnvHost: "", EnvInterface: "/x/", EnvPorts: "9-8", EnvTLS: "yes",
		EnvHeartbeat: "soon", EnvJoinTimeout: "x", EnvKey: "secret", EnvKeyFile: "/nowhere/key", pmiID: "x",
	} {
		t.Run(variable, func(t *testing.T) {
			m := startManager(t, 2, "")
			said, failed := runRanks(t, 1, func(int) []string {
				return []string{"PMI_PORT=" + m.listener.Addr().String(), "PMI_ID=0", fmt.Sprintf("%s=%s", variable, value)}
			})
			if failed != 1 || !strings.HasPrefix(said[0], variable) || strings.Contains(said[0], "\n") {
				t.Errorf("%d failed: %q; want one line that begins with %s", failed, said[0], variable)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.heard != 0 {
				t.Errorf("the manager has heard %d lines", m.heard)
			}
		})
	}
}
