package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// reduceStale is a rank that says its job. It then makes 20 calls of a stale-synchronous reduction, which it closes, and
// 12 of another one with slack 2, but for rank 1, which stops after 5: the others begin call 8 and wait there for
// ever, since it needs contributions of clock 6.
func reduceStale(ctx context.Context, p *gaspi.Proc, _ []string) error {
	fmt.Println(p.Job())
	calls := func(most int) (*ssp.Reduction[float64], error) {
		r, err := ssp.New[float64](ctx, p.World(), 1, ssp.Sum, 2)
		for i := 0; err == nil && i < most; i++ {
			_, err = r.AllReduce(ctx, []float64{1})
		}
		return r, err
	}
	r, err := calls(20)
	if err != nil {
		return err
	}
	if err := r.Close(ctx); err != nil {
		return err
	}
	if p.Rank() != 1 {
		_, err := calls(12)
		return err
	}
	if _, err := calls(5); err != nil {
		return err
	}
	seg, err := p.AllocSegment(0, 64)
	if err == nil {
		_, err = seg.WaitSome(ctx, 0, 1)
	}
	return err
}

// TestClocks has ranks on this and another host whose stale-synchronous reductions have come to a stop, and looks for
// their clocks: in a terminal, and in the data of the page.
func TestClocks(t *testing.T) {
	l := startOnHosts(t, "localhost:2,b:1", "--http", ":0", "--env", testenv.AsRole("stale"), itself(t))
	name, at := l.job(3), l.page()
	s := onTerminal(t, "top "+name)
	s.shows(`(?m)^RANK  HOST +STATE +WAITS +GB/S +CLOCK +FOR +CALL
((1 .* 5 +\d+\.\d s +Segment\.WaitSome .*|[02] .* 8 +\d+\.\d s +Reduction\.AllReduce.*)
?){3}$`)
	s.keys.Write([]byte("q"))
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d after q", code)
	}
	testenv.EventuallySucceeds(t, func() error {
		text, err := fetch(t, at+"api/job")
		if err != nil {
			return err
		}
		var now struct{ Ranks []struct{ Clock uint64 } }
		if err := json.Unmarshal([]byte(text), &now); err != nil {
			return err
		}
		if d := cmp.Diff([]struct{ Clock uint64 }{{8}, {5}, {8}}, now.Ranks); d != "" {
			return fmt.Errorf("(-want +got):\n%s", d)
		}
		return nil
	})
	l.signal(syscall.SIGINT)
	l.wait()
}
