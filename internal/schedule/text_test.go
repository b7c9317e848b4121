package schedule

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// splitSteps are steps on one line, separated by semicolons.
func splitSteps(s string) []string { return strings.Split(s, "; ") }

// mixed is an algorithm that has steps of all kinds.
func mixed(b *Builder, c *Call) {
	me, n, p := b.Rank(), c.Count, c.Size
	next := (me + 1) % p
	hold, turn, coded := b.Scratch(n), b.Flip(2*n), b.Scratch(CodedLen(n, b.Line()))
	credit, data := b.Slots(1), b.Slots(p)
	b.Signal(next, credit)
	b.Encode(coded.At(me, 0, CodedLen(n, b.Line())), b.In(me, 0, n))
	b.Await(credit)
	b.Put(turn.At(next, n, n), b.In(me, 0, n), data+me)
	b.Put(hold.At(next, 0, n), b.In(me, 0, n), NoSlot)
	b.Signal(next, data+me)
	b.Await(data + (me+p-1)%p)
	b.Await(data + (me+p-1)%p)
	b.CombineAll([]Region{b.Out(me, 0, n), hold.At(me, 0, n)}, []Region{turn.At(me, n, n), b.In(next, 0, n), hold.At(me, 0, n)})
	b.Fork(2, func(i int) {
		b.Copy(turn.At(me, i, 1), b.In(me, i, 1))
		b.Flush()
	})
	b.Decode(b.Out(me, 0, n), coded.At(me, 0, CodedLen(n, b.Line())))
}

func TestGolden(t *testing.T) {
	call := func(c Call) Call {
		c.Op, c.Size, c.Line = AllReduce, 3, 4
		return c
	}
	for _, c := range []struct {
		name string
		call Call
		emit Emitter
	}{
		{"mixed", call(Call{Count: 6}), mixed},
		{"mixed_in_place", call(Call{Count: 6, InPlace: true}), mixed},
		{"mixed_segments", call(Call{Count: 13}), Pipeline(Segmentation{Size: 5, Concurrency: 2}, mixed)},
		{"relay_segments", call(Call{Count: 13, InPlace: true}), Pipeline(Segmentation{Size: 3, Concurrency: 2}, Stage(1, fetch))},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			for r := range c.call.Size {
				got.WriteString(Build(&c.call, r, c.emit).String())
			}
			path := filepath.Join("testdata", c.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%swant\n%s(with -update it is written anew)", got.String(), want)
			}
		})
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		step Step
		want string
	}{
		{Step{Kind: Flush}, "flush"},
		{Step{Kind: Await, Slot: 7, Count: 1}, "await 7"},
		{Step{Kind: Await, Slot: 7, Count: 3}, "await 7 x3"},
		{Step{Kind: Signal, Peer: 2, Slot: 0}, "signal rank 2, post 0"},
		{Step{Kind: Put, Slot: NoSlot, Peer: 2, Dst: []Region{{2, Flip, 1, 2}}, Src: []Region{{1, Extra(1), 0, 2}}}, "put extra1[0:2] -> 2:flip[1:3]"},
		{Step{Kind: Combine, Dst: []Region{{1, Out, 1, 2}}, Src: []Region{{0, In, 0, 2}}}, "copy out[1:3] = 0:in[0:2]"},
		{Step{Kind: 99}, "Kind(99)  = "},
	} {
		if got := c.step.Text(1); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
