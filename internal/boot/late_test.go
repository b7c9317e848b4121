package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/control"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestRendezvousThatGreetsLate has a rendezvous greet a rank after 20 s, which may take 30 s, or 15 s,
// to join.
func TestRendezvousThatGreetsLate(t *testing.T) {
	for _, patience := range []time.Duration{30 * time.Second, 15 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			left := make(chan struct{})
			go func() {
				defer close(left)
				defer theirs.Close()
				if _, err := bufio.NewReader(theirs).ReadString('\n'); err != nil {
					t.Error(err)
				}
				time.Sleep(20 * time.Second) // sleep: by the clock of the bubble
				fmt.Fprintf(theirs, `{"kind":"hello","version":%d,"job":"j","rank":1,"size":2}`+"\n", protocolVersion)
				_, _ = io.Copy(io.Discard, theirs) // until the rank has left
			}()
			c, err := dialRemote(ours, Info{Rank: 1, Size: 2, Job: "j"}, auth.Credentials{}, patience)
			if silent, is := errors.AsType[control.SilentError](err); patience < 20*time.Second && (!is || silent.Limit != patience) || patience > 20*time.Second && err != nil {
				t.Errorf("within %v: %v", patience, err)
			}
			if err == nil {
				c.Close()
			}
			<-left
		})
	}
}

// TestJoinIsGivenUpAtHello has a rendezvous that proves what it is and says nothing more.
func TestJoinIsGivenUpAtHello(t *testing.T) {
	s := startServer(t, 2)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, giveUp := context.WithCancel(testenv.Context(t))
	gate := auth.NewGate(auth.GateConfig{Credentials: s.Credentials(), Check: s.Check, Log: func(string) {}})
	done := make(chan error, 1)
	go func() { done <- gate.Serve(l, func(net.Conn, auth.Hello) { giveUp() }) }()
	m := meeting{addresses: []string{l.Addr().String()}, proof: s.Authority().Rank(1), patience: time.Hour}
	if _, err := m.join(ctx, infoOf(s, 1)); err == nil || !strings.Contains(err.Error(), "when the call was given up (") || !isOneLine(err) {
		t.Errorf("%v, want that the call was given up", err)
	}
	l.Close()
	<-done
}
