package faulty

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// TestWriteOfTheDeadArrivesAsItWas kills a rank whose write is under way, and whose goroutine
// goes on and writes into the source. No process could: if the write arrives, then as it was.
func TestWriteOfTheDeadArrivesAsItWas(t *testing.T) {
	arrived := 0
	for seed := range uint64(32) {
		synctest.Test(t, func(t *testing.T) {
			flag, got := writeAndDie(t, seed)
			if flag == 1 {
				arrived++
			}
			if flag == 1 && got != 1 {
				t.Errorf("seed %d: byte %d, want 1", seed, got)
			}
		})
	}
	if arrived == 0 {
		t.Error("no write arrived after the death of its sender")
	}
}

// writeAndDie has rank 0 write a byte of 1 to rank 1, die before that arrives, and write
// into the source. It returns the notification and the byte that rank 1 has in the end.
func writeAndDie(t *testing.T, seed uint64) (notify.Value, byte) {
	const travel = time.Second
	net, hub := New(Config{Hosts: []int{0, 1}, Latency: travel, Silence: time.Minute, Seed: seed}), loopback.NewHub(2, 1)
	net.Begin(transport.Launcher{Kill: func(base.Rank, error) {}})
	var ranks [2]transport.Transport
	var segs [2]*segment.Segment
	for r := range base.Rank(2) {
		rank, err := net.Join(r, hub.Join(r), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer rank.Close()
		seg, err := segment.New(64, 1, notify.GoroutineWait(0, 0))
		if err == nil {
			err = rank.Expose(0, seg)
		}
		if err == nil {
			err = rank.Grant(0, 1-r)
		}
		if err != nil {
			t.Fatal(err)
		}
		ranks[r], segs[r] = rank, seg
	}
	link, err := ranks[0].Link(1)
	if err == nil {
		err = link.Ping(t.Context())
	}
	src := segs[0].All()
	src.Bytes()[0] = 1
	if err == nil {
		err = link.PutNotify(transport.NewQueue(8, 0), transport.Addr{}, src, transport.Flag{Value: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	net.Kill(0)
	src.Bytes()[0] = 2
	time.Sleep(2 * travel) // sleep: by the clock of the bubble the write has arrived or been lost
	return segs[1].Notifications().Load(0), segs[1].All().Bytes()[0]
}
