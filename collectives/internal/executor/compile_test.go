package executor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: a post goes with the put before it, or by itself, as the definition says that looks through the lane.
// Method: lanes of puts and signals at random, to few peers, mapped and not, in segments that have the
// notifications and others.
func TestPostsGoWithPuts(t *testing.T) {
	const control = 3
	draw := rand.New(rand.NewPCG(3, 9))
	for range 5000 {
		c := compiler{x: &Executable{board: control}, open: make([]bool, 3)}
		var got, want lane
		for range 12 {
			peer := draw.Int32N(3)
			in := instruction{kind: schedule.Await, note: gaspi.NotificationID(draw.Uint32N(9))}
			if what := draw.IntN(5); what > 0 {
				in.kind, in.peer = schedule.Signal, peer
				in.posts = what != 2
				if what > 1 {
					in.kind, in.segment, in.mapped = schedule.Put, control+gaspi.SegmentID(draw.Uint32N(2)), draw.IntN(2) == 0
					in.joint = in.posts && (in.segment == control || !in.mapped)
				}
			}
			one, two := in, in
			got, want = c.with(got, &one, peer), slowlyWith(want, &two, control)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("the lane is\n%v\nwant\n%v", got, want)
		}
	}
}

// slowlyWith is compiler.with that looks through the lane.
func slowlyWith(l lane, in *instruction, control gaspi.SegmentID) lane {
	open := func(l lane) bool {
		for i := len(l) - 1; i >= 0; i-- {
			switch at := &l[i]; {
			case at.peer != in.peer || at.kind != schedule.Put && at.kind != schedule.Signal:
			case at.kind == schedule.Put && !at.posts:
				return true
			case at.kind == schedule.Signal, !at.joint:
				return false
			}
		}
		return false
	}
	if k := len(l) - 1; k >= 0 && in.kind == schedule.Signal && l[k].kind == schedule.Put && !l[k].posts && l[k].peer == in.peer {
		if put := &l[k]; put.mapped && put.segment == control || !put.mapped && !open(l[:k]) {
			put.joint, put.posts, put.eager, put.note, put.per, put.nth = true, true, in.eager, in.note, in.per, in.nth
			return l
		}
	}
	if in.joint && !in.mapped && open(l) {
		in.joint = false
	}
	return append(l, *in)
}
