//go:build rdma && cgo && linux

package rdma

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	netaddr "github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

func TestMain(m *testing.M) {
	testenv.Main(testenv.Waiting{M: m}, map[string]testenv.Role{"victim": victim, "listens": listen})
}

// victim is rank 1: it offers memory, says where it is, and waits for its end. Its argument is
// the address of rank 0.
func victim(ctx context.Context, args []string) error {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	f, err := open(providerName(), loopbackSource(), netaddr.Ports{}, 2)
	fail(err)
	tr, err := newOn(f, Config{Rank: 1, Size: 2, IDs: 4, Lookup: func(context.Context, base.Rank) (string, error) { return args[0], nil }})
	fail(err)
	s, err := segment.Create(8<<20, 16, polling())
	fail(err)
	fail(tr.Expose(1, s))
	fail(tr.Grant(1, 0))
	fmt.Println(tr.Address())
	<-ctx.Done()
	return ctx.Err()
}

// A process that is killed while it is written to: the writes end with an error that
// names it, all that comes later too, and nothing stays registered.
func TestProcessIsKilledInTheMiddleOfPuts(t *testing.T) {
	said := make(chan string, 1)
	lookup := func(ctx context.Context, _ base.Rank) (string, error) {
		select {
		case at := <-said:
			return at, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	told := make(chan *base.RankError, 1)
	f := openLibfabric(t, 2)()
	w := polling()
	tr, err := newOn(f, Config{
		Rank: 0, Size: 2, IDs: 4, Lookup: lookup, WaitPolicy: w, Lost: func(err *base.RankError) { told <- err },
		Begin: func(tr *Transport) { tr.PolledBy(w) },
	})
	ok(t, err)
	defer tr.Close()
	cmd := testenv.Command(testenv.Context(t), "victim", tr.Address())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	ok(t, err)
	said <- strings.TrimSpace(line)

	own := exposed(t, tr, 1, 8<<20)
	l, q, at := linkTo(t, tr, 1), newQueue(), transport.Addr{Segment: 1}
	ok(t, l.Put(q, at, own.All()))
	ok(t, l.Flush(testenv.Context(t), q))
	for range 20 {
		ok(t, l.Put(q, at, own.All()))
	}
	ok(t, cmd.Process.Kill())
	start := time.Now()
	for ctx := testenv.Context(t); err == nil; {
		if err = l.Put(q, at, own.All()); err == nil {
			if err = q.Wait(ctx, w, nil); err == nil {
				err = q.Failure()
			}
		}
	}
	isGone(t, "puts", err, 1)
	t.Logf("%v after %v", err, time.Since(start).Round(time.Millisecond))
	isGone(t, "ping", l.Ping(testenv.Context(t)), 1)
	select {
	case gone := <-told:
		isGone(t, "what Lost was told", gone, 1)
	case <-time.After(generous):
		t.Error("Lost was not told")
	}
	ok(t, tr.Withdraw(1))
	ok(t, tr.Close())
	if n := len(tr.memory.all) + len(tr.deferred); n != 0 {
		t.Errorf("%d registrations are left", n)
	}
}
