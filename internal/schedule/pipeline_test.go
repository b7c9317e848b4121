package schedule

import (
	"fmt"
	"testing"
)

// relay is a small algorithm that asks for all that there is: a slot, as much scratch
// as the vector is long, and a lane beside its first.
func relay(b *Builder, c *Call) {
	me, n := b.Rank(), c.Count
	hold, slot := b.Scratch(n), b.Slots(1)
	b.Put(hold.At(1-me, 0, n), b.In(me, 0, n), slot)
	b.Fork(1, func(int) { b.Signal(1-me, slot) })
	b.Await(slot)
	b.Copy(b.Out(me, 0, n), hold.At(me, 0, n))
}

func pipelineCall(n int) *Call { return &Call{Op: AllReduce, Size: 2, Count: n, Line: 4} }

func TestPipelineOfOneSegmentIsTheAlgorithm(t *testing.T) {
	want := Build(pipelineCall(5), 0, relay).String()
	for _, how := range []Segmentation{{}, {Size: 5}, {Size: 9, Concurrency: 2}, {Concurrency: 1}, {Concurrency: 7}} {
		if got := Build(pipelineCall(5), 0, Pipeline(how, relay)).String(); got != want {
			t.Errorf("%+v: got\n%swant\n%s", how, got, want)
		}
	}
}

func TestPipelineReusesLanes(t *testing.T) {
	// Five segments, two at a time: the third takes over from the first, with its
	// slot, the same scratch, and after a flush.
	got := Build(pipelineCall(13), 0, Pipeline(Segmentation{Size: 3, Concurrency: 2}, relay)).String()
	want := `rank 0 of 2: slots 2, scratch 8, flip 0
lane 0
  put in[0:3] -> 1:scratch[0:3], post 0
  await 0
  copy out[0:3] = scratch[0:3]
  flush
  put in[6:9] -> 1:scratch[0:3], post 0
  await 0 x2
  copy out[6:9] = scratch[0:3]
  flush
  put in[12:13] -> 1:scratch[0:1], post 0
  await 0 x3
  copy out[12:13] = scratch[0:1]
lane 1
  signal rank 1, post 0
  flush
  signal rank 1, post 0
  flush
  signal rank 1, post 0
lane 2
  put in[3:6] -> 1:scratch[4:7], post 1
  await 1
  copy out[3:6] = scratch[4:7]
  flush
  put in[9:12] -> 1:scratch[4:7], post 1
  await 1 x2
  copy out[9:12] = scratch[4:7]
lane 3
  signal rank 1, post 1
  flush
  signal rank 1, post 1
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPipelineTakesTurns(t *testing.T) {
	for _, c := range []struct {
		how     Segmentation
		n       int
		lanes   int
		slots   int
		scratch int
	}{
		{Segmentation{Size: 3}, 13, 2, 1, 4},                 // one after the other
		{Segmentation{Size: 3, Concurrency: 1}, 13, 2, 1, 4}, // the same
		{Segmentation{Size: 3, Concurrency: 4}, 13, 8, 4, 16},
		{Segmentation{Size: 3, Concurrency: 9}, 13, 10, 5, 20}, // no more than there are
		{Segmentation{Concurrency: 3}, 14, 6, 3, 24},           // the last has 6 elements, and all get as much
	} {
		s := Build(pipelineCall(c.n), 1, Pipeline(c.how, relay))
		if len(s.Lanes) != c.lanes || s.Slots != c.slots || s.Scratch != c.scratch {
			t.Errorf("%+v of %d: %d lanes, %d slots, %d scratch; want %d, %d, %d", c.how, c.n, len(s.Lanes), s.Slots, s.Scratch, c.lanes, c.slots, c.scratch)
		}
	}
}

func TestPipelineKeepsRoomForTheLongest(t *testing.T) {
	// The last segment is short, and its second piece of scratch does not move.
	two := func(b *Builder, c *Call) {
		first, second := b.Scratch(c.Count), b.Scratch(1)
		b.Copy(second.At(0, 0, 1), first.At(0, 0, 1))
	}
	got := built(pipelineCall(11), 0, Pipeline(Segmentation{Size: 10}, two))
	want := "lane 0\n  copy scratch[12:13] = scratch[0:1]\n  flush\n  copy scratch[12:13] = scratch[0:1]\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPipelineGivesEachSegmentItsFlip(t *testing.T) {
	flip := func(b *Builder, c *Call) { b.Copy(b.Flip(c.Count).At(0, 0, c.Count), b.In(0, 0, c.Count)) }
	s := Build(pipelineCall(7), 0, Pipeline(Segmentation{Size: 3, Concurrency: 2}, flip))
	_, got := s.Flip, built(pipelineCall(7), 0, Pipeline(Segmentation{Size: 3, Concurrency: 2}, flip))
	want := "lane 0\n  copy flip[0:3] = in[0:3]\nlane 1\n  copy flip[4:7] = in[3:6]\nlane 2\n  copy flip[8:9] = in[6:7]\n"
	if got != want || s.Flip != 12 {
		t.Errorf("flip %d: got\n%swant 12:\n%s", s.Flip, got, want)
	}
}

func TestPipelineCutsEachBlock(t *testing.T) {
	c := &Call{Op: AllGather, Size: 3, Counts: []int{3, 0, 2}, Line: 1}
	got := built(c, 2, Pipeline(Segmentation{Size: 2}, func(b *Builder, c *Call) {
		off, n := c.Block(2)
		b.Copy(b.Out(2, off, n), b.In(2, 0, n))
		b.Copy(b.Out(2, 0, c.Total()), b.Out(1, 0, c.Total()))
	}))
	want := `lane 0
  copy out[3:5] = in[0:2]
  copy out[0:2] = 1:out[0:2]
  copy out[3:5] = 1:out[3:5]
  flush
  copy out[2:3] = 1:out[2:3]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPipelineDoesNotCutAnExchange(t *testing.T) {
	c := &Call{Op: Exchange, Size: 2, Count: 9, Rounds: 2, Line: 1}
	if got, want := Build(c, 0, Pipeline(Segmentation{Size: 2}, relay)).String(), Build(c, 0, relay).String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPipelinesNest(t *testing.T) {
	inner := Pipeline(Segmentation{Size: 2, Concurrency: 2}, relay)
	for n := range 20 {
		for size := 1; size < 8; size++ {
			s := Build(pipelineCall(n), 0, Pipeline(Segmentation{Size: size, Concurrency: 2}, inner))
			seen := make(map[string]bool)
			for _, lane := range s.Lanes {
				for _, step := range lane {
					for _, r := range step.Dst {
						if r.Buf != Out {
							continue
						}
						for i := range r.Len {
							at := fmt.Sprint(r.Off + i)
							if seen[at] {
								t.Fatalf("%d elements in segments of %d: element %s is written twice", n, size, at)
							}
							seen[at] = true
						}
					}
				}
			}
			if len(seen) != n {
				t.Fatalf("%d elements in segments of %d: %d are written", n, size, len(seen))
			}
		}
	}
}

func TestUnderWay(t *testing.T) {
	for _, c := range []struct {
		how     Segmentation
		n, want int
	}{
		{Segmentation{}, 100, 100},
		{Segmentation{Concurrency: 4}, 100, 100},
		{Segmentation{Size: 10}, 100, 10},
		{Segmentation{Size: 10, Concurrency: 3}, 100, 30},
		{Segmentation{Size: 10, Concurrency: 30}, 100, 100},
	} {
		if got := c.how.UnderWay(c.n); got != c.want {
			t.Errorf("%+v of %d elements: %d are under way, want %d", c.how, c.n, got, c.want)
		}
	}
}
