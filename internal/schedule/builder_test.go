package schedule

import (
	"fmt"
	"strings"
	"testing"
)

// built is the lanes of a schedule, without its first line.
func built(c *Call, rank int, emit Emitter) string {
	_, lanes, _ := strings.Cut(Build(c, rank, emit).String(), "\n")
	return lanes
}

func TestBuilder(t *testing.T) {
	// Out of each rank is cut after three elements, In is whole.
	cut := func(b *Builder) {
		b.layout = func(buf Buffer, rank int) []Piece {
			if buf == Out {
				return []Piece{{At: 0, Len: 3, Buf: Out, Off: 0}, {At: 3, Len: 5, Buf: Out, Off: 100}}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name string
		emit func(b *Builder)
		want string
	}{
		{"a put", func(b *Builder) { b.Put(b.Out(1, 0, 2), b.In(0, 4, 2), 5) }, "put in[4:6] -> 1:out[0:2], post 5"},
		{"a put without a post", func(b *Builder) { b.Put(b.Out(1, 0, 2), b.In(0, 4, 2), NoSlot) }, "put in[4:6] -> 1:out[0:2]"},
		{"an empty put", func(b *Builder) { b.Put(b.Out(1, 2, 0), b.In(0, 4, 0), 5) }, "put in[4:4] -> 1:out[2:2], post 5"},
		{"a put in pieces", func(b *Builder) { cut(b); b.Put(b.Out(1, 1, 4), b.In(0, 4, 4), 5) },
			"put in[4:6] -> 1:out[1:3]; put in[6:8] -> 1:out[100:102]; signal rank 1, post 5"},
		{"a put in pieces without a post", func(b *Builder) { cut(b); b.Put(b.Out(1, 1, 4), b.In(0, 4, 4), NoSlot) },
			"put in[4:6] -> 1:out[1:3]; put in[6:8] -> 1:out[100:102]"},
		{"an empty put to pieces", func(b *Builder) { cut(b); b.Put(b.Out(1, 3, 0), b.In(0, 4, 0), 5) }, "put in[4:4] -> 1:out[0:0], post 5"},
		{"a put apart", func(b *Builder) {
			m := b.Flip(2)
			b.PutApart(m.At(1, 0, 2), b.In(0, 4, 2), 5)
			b.AwaitApart(1, 5, m.At(0, 0, 2))
		}, "put apart in[4:6] -> 1:flip[0:2], post 5; await apart flip[0:2] of rank 1: 5"},
		{"awaits count", func(b *Builder) { b.Await(2); b.Await(3); b.Await(2) }, "await 2; await 3; await 2 x2"},
		{"a copy", func(b *Builder) { b.Copy(b.Out(0, 0, 2), b.In(0, 4, 2)) }, "copy out[0:2] = in[4:6]"},
		{"a copy to itself", func(b *Builder) { b.Copy(b.Out(0, 0, 2), b.Out(0, 0, 2)) }, ""},
		{"a copy of nothing", func(b *Builder) { b.Copy(b.Out(0, 0, 0), b.In(0, 4, 0)) }, ""},
		{"a fold into itself", func(b *Builder) { b.Combine(b.Out(0, 0, 2), b.Out(0, 0, 2), b.In(1, 0, 2)) }, "combine out[0:2] = out[0:2] + 1:in[0:2]"},
		{"a fold in pieces", func(b *Builder) { cut(b); b.Combine(b.In(0, 0, 4), b.Out(0, 0, 4), b.Out(1, 1, 4)) },
			"combine in[0:2] = out[0:2] + 1:out[1:3]; combine in[2:3] = out[2:3] + 1:out[100:101]; combine in[3:4] = out[100:101] + 1:out[101:102]"},
		{"a fold into several", func(b *Builder) {
			b.CombineAll([]Region{b.Out(0, 0, 2), b.Out(1, 0, 2)}, []Region{b.In(0, 0, 2), b.In(1, 0, 2)})
		}, "combine out[0:2], 1:out[0:2] = in[0:2] + 1:in[0:2]"},
		{"coding", func(b *Builder) {
			m := b.Scratch(20)
			b.Encode(m.At(0, 0, 6), b.In(0, 0, 2))
			b.Decode(b.Out(0, 0, 2), m.At(0, 0, 6))
			b.Flush()
		}, "encode scratch[0:6] = in[0:2]; decode out[0:2] = scratch[0:6]; flush"},
	} {
		var want strings.Builder
		for i, line := range strings.Split(c.want, "; ") {
			if c.want != "" && i == 0 {
				want.WriteString("lane 0\n")
			}
			if c.want != "" {
				fmt.Fprintf(&want, "  %s\n", line)
			}
		}
		got := built(&Call{Op: AllReduce, Size: 2, Count: 8, Line: 4}, 0, func(b *Builder, _ *Call) { c.emit(b) })
		if got != want.String() {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, want.String())
		}
	}
}

func TestClaims(t *testing.T) {
	var s, s2 int
	var m, m2, f, f2 Memory
	got := Build(&Call{Op: AllReduce, Size: 2, Count: 8, Line: 4}, 1, func(b *Builder, _ *Call) {
		s, s2 = b.Slots(3), b.Slots(1)
		m, m2 = b.Scratch(5), b.Scratch(4)
		f, f2 = b.Flip(1), b.Flip(9)
		b.Slots(1)
	})
	if s != 0 || s2 != 3 || got.Slots != 5 {
		t.Errorf("slots %d, %d of %d; want 0, 3 of 5", s, s2, got.Slots)
	}
	if a, b := m.At(1, 0, 5), m2.At(0, 1, 2); a.String() != "1:scratch[0:5]" || b.String() != "0:scratch[9:11]" || got.Scratch != 12 {
		t.Errorf("scratch %v, %v of %d; want cache lines of their own", a, b, got.Scratch)
	}
	if a, b := f.At(1, 0, 1), f2.At(0, 0, 9); a.String() != "1:flip[0:1]" || b.String() != "0:flip[4:13]" || got.Flip != 16 {
		t.Errorf("flip %v, %v of %d; want cache lines of their own", a, b, got.Flip)
	}
}

func TestFork(t *testing.T) {
	got := built(&Call{Op: Barrier, Size: 2, Line: 1}, 0, func(b *Builder, _ *Call) {
		b.Signal(1, 0)
		b.Fork(3, func(i int) {
			if i != 1 {
				b.Signal(1, 10+i)
			}
			if i == 2 {
				b.Fork(1, func(int) { b.Signal(1, 20) })
				b.Flush()
			}
		})
		b.Await(1)
	})
	want := `lane 0
  signal rank 1, post 0
  await 1
lane 1
  signal rank 1, post 10
lane 2
  signal rank 1, post 12
  flush
lane 3
  signal rank 1, post 20
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBuilderPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		emit func(b *Builder)
		want string
	}{
		{"put of another length", func(b *Builder) { b.Put(b.Out(1, 0, 2), b.In(0, 0, 3), 0) }, "put of 3 elements into 2"},
		{"fold of another length", func(b *Builder) { b.Combine(b.Out(0, 0, 2), b.In(0, 0, 3)) }, "one step on 2 and 3 elements"},
		{"memory beyond its end", func(b *Builder) { b.Scratch(5).At(0, 4, 2) }, "leaves its region"},
		{"memory before its begin", func(b *Builder) { b.Flip(5).At(0, -1, 2) }, "leaves its region"},
		{"coded form in pieces", func(b *Builder) {
			b.layout = pieces(Piece{Len: 2, Buf: In}, Piece{At: 2, Len: 2, Buf: In, Off: 9})
			b.Encode(b.Scratch(9).At(0, 0, 9), b.In(0, 1, 2))
		}, "coded regions lie in one piece"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, c.want) {
					t.Errorf("panic %q does not say %q", r, c.want)
				}
			}()
			Build(&Call{Op: AllReduce, Size: 2, Count: 8, Line: 4}, 0, func(b *Builder, _ *Call) { c.emit(b) })
		})
	}
}
