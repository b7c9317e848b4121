package beside

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// This file keeps the host of a virtual machine from deciding a comparison. It moves virtual cores: of two that share a
// cache, one goes to where it shares none with the other, and comes back a second or a minute later. Meanwhile memory that
// one core has written takes the other three times as long, and a message through a socket two to three times.

const (
	// farBy is how many times the least a handover takes when cores are apart.
	farBy = 1.5
	// patience is how long a comparison waits in all until cores are near each other again.
	patience = 20 * time.Second
	lookPace = 20 * time.Millisecond
)

// A distance tells whether two cores are as near each other as they were.
type distance struct {
	handover func() time.Duration // from one core to the other and back; 0 if that cannot be measured
	sleep    func(context.Context, time.Duration)

	least    time.Duration
	waited   time.Duration
	repeated int
	most     int // runs that may be repeated
}

func newDistance(cores []int, most int) *distance {
	return &distance{handover: func() time.Duration { return measureHandover(cores) }, sleep: sleep, most: most}
}

// isNear reports whether cores are as near each other as they ever were.
func (d *distance) isNear() bool {
	now := d.handover()
	if d.least == 0 || now < d.least {
		d.least = now
	}
	return float64(now) <= farBy*float64(d.least)
}

// await blocks until cores are near each other, or patience is gone.
func (d *distance) await(ctx context.Context) {
	for !d.isNear() && d.waited < patience && ctx.Err() == nil {
		d.sleep(ctx, lookPace)
		d.waited += lookPace
	}
}

// away reports whether a run that has ended is to be repeated, since cores are not near each other any more.
func (d *distance) away() bool {
	if d.repeated == d.most || d.isNear() {
		return false
	}
	d.repeated++
	return true
}

// String is what readers must know; empty if it is nothing.
func (d *distance) String() string {
	if d.repeated == 0 && d.waited == 0 {
		return ""
	}
	return fmt.Sprintf("The system moved cores away from each other: %d runs were repeated, and %v passed until they were near again.", d.repeated, d.waited)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

const (
	handoverBytes = 32 << 10
	cacheLine     = 64
	handovers     = 20 // in a row, of which the shortest row of several counts
	handoverRows  = 10
)

// A block of memory is written by two threads in turns. The value of turn is odd when it is the second one's.
type block struct {
	turn  atomic.Uint32
	_     [cacheLine]byte
	lines [handoverBytes / cacheLine][cacheLine / 8]uint64
}

// take waits for a turn, writes a word of each line, and gives the block back.
func (b *block) take(turn uint32) {
	for b.turn.Load() != turn {
		cpu.Relax()
	}
	for i := range b.lines {
		b.lines[i][0] = uint64(turn)
	}
	b.turn.Store(turn + 1)
}

// measureHandover returns how long a block takes from the first core to the second and back, at least. It returns 0 if
// there is one core, or threads cannot be bound.
func measureHandover(cores []int) time.Duration {
	if len(cores) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	b := new(block)
	took, second := make(chan time.Duration, 1), make(chan bool, 1)
	go func() {
		second <- onCore(cores[1])
		for i := range uint32(handovers * handoverRows) {
			b.take(2*i + 1)
		}
	}()
	go func() {
		bound := onCore(cores[0])
		least := b.shortest()
		if other := <-second; !bound || !other {
			least = 0
		}
		took <- least
	}()
	return <-took
}

// shortest is the first thread's part.
func (b *block) shortest() time.Duration {
	var least time.Duration
	for row := range uint32(handoverRows) {
		start := time.Now()
		for i := range uint32(handovers) {
			b.take(2 * (row*handovers + i))
		}
		if d := time.Since(start); least == 0 || d < least {
			least = d
		}
	}
	return least / handovers
}

// onCore binds a goroutine's thread, which ends with the goroutine.
func onCore(core int) bool {
	runtime.LockOSThread()
	return thread.SetCores([]int{core}) == nil
}
