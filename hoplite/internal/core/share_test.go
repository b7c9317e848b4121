package core

import (
	"slices"
	"testing"
)

// A sharing is a reduction of objects "a" of rank 0, its caller, and "b" of rank 1, which share memory. Messages
// arrive at once; what is folded is reported when the test says so.
type sharing struct {
	t       *testing.T
	cores   []*Core
	folds   []sharedFold
	copies  int // how many
	results []CallResult
}

// A sharedFold is one that was not reported.
type sharedFold struct {
	at     Rank
	cmd    Command
	number uint64
}

const (
	shareChunk = 64
	shareSize  = leastShared*shareChunk + 8
)

func newSharing(t *testing.T, m Mutant, near [][]bool) *sharing {
	return newSharingOf(t, m, near, shareSize, true)
}

// newSharingOf is newSharing of other sizes, where rank 1 waits for the sum or not.
func newSharingOf(t *testing.T, m Mutant, near [][]bool, size int64, waits bool) *sharing {
	s := &sharing{t: t}
	for r := range Rank(len(near)) {
		s.cores = append(s.cores, New(broken(Config{
			Rank: r, Size: len(near), Capacity: 4 * shareSize, Align: 8, Chunk: shareChunk, Inline: -1, Near: near[r], ShareFrom: 1,
		}, m)))
	}
	s.cores[0].Put(1, "a", size, 0)
	s.cores[1].Put(1, "b", size, 0)
	s.settle()
	if waits {
		s.cores[1].Get(3, "sum")
		s.settle()
	}
	s.cores[0].Reduce(2, "sum", []string{"a", "b"}, 2, 9)
	s.settle()
	return s
}

var allNear = [][]bool{{true, true}, {true, true}}

// settle does what the cores want, but for reports of folds.
func (s *sharing) settle() {
	for again := true; again; {
		again = false
		for r, c := range s.cores {
			var out Output
			c.Drain(&out)
			copies := false
			for _, cmd := range out.Commands {
				again = true
				switch cmd.Op {
				case OpFill:
					c.Filled(cmd.Call, cmd.Len)
				case OpTell:
					s.cores[cmd.Peer].Arrived(cmd.Slot, cmd.Watermark)
				case OpFold:
					s.folds = append(s.folds, sharedFold{at: Rank(r), cmd: cmd})
				case OpCopy:
					copies = true
					s.copies++
				case OpReport:
					if copies {
						c.Sent(cmd.Transfer)
						copies = false
					} else {
						s.folds[len(s.folds)-1].number = cmd.Transfer
					}
				}
			}
			for _, snd := range out.Sends {
				again = true
				s.cores[snd.To].Receive(Rank(r), snd.Msg)
			}
			s.results = append(s.results, out.Results...)
		}
	}
}

// report reports the fold of a chunk at a rank.
func (s *sharing) report(at Rank, chunk int64) {
	s.t.Helper()
	i := slices.IndexFunc(s.folds, func(f sharedFold) bool { return f.at == at && s.chunkOf(f) == chunk })
	if i < 0 {
		s.t.Fatalf("rank %d does not fold chunk %d; folds are %+v", at, chunk, s.folds)
	}
	number := s.folds[i].number
	s.folds = slices.Delete(s.folds, i, i+1)
	s.cores[at].Sent(number)
	s.settle()
}

// chunkOf is which chunk of the target is folded.
func (s *sharing) chunkOf(f sharedFold) int64 {
	return (f.cmd.Off - s.cores[0].objects["sum"].mem.off) / shareChunk
}

// chunks are those that a rank folds, or is to fold when they are folded.
func (s *sharing) chunks(at Rank) (list []int64) {
	for _, f := range s.folds {
		if f.at == at {
			list = append(list, s.chunkOf(f))
		}
	}
	for _, number := range s.cores[at].todo {
		list = append(list, s.chunkOf(sharedFold{cmd: s.cores[at].tasks[number].fold}))
	}
	return list
}

// Goal: a rank that only lends a source folds chunks into the caller's target, with the operands and in the order of the
// caller. The target is there as far as all chunks before are folded, by whomever.
func TestShares(t *testing.T) {
	s := newSharing(t, MutantNone, allNear)
	if a, b := s.chunks(0), s.chunks(1); !slices.Equal(a, []int64{0}) || !slices.Equal(b, []int64{1, 2}) {
		t.Fatalf("the caller folds chunks %v and the other rank %v, want 0, and 1 and 2", a, b)
	}
	for _, f := range s.folds {
		at := s.chunkOf(f) * shareChunk
		want := []Operand{{1, s.cores[1].objects["b"].mem.off + at}, {0, s.cores[0].objects["a"].mem.off + at}}
		if !slices.Equal(f.cmd.From, want) || f.cmd.Len != shareChunk || f.cmd.Peer != 0 || f.cmd.Fold != 9 {
			t.Errorf("chunk %d is folded by %+v, want operands %v", at/shareChunk, f.cmd, want)
		}
	}
	target := s.cores[0].objects["sum"]
	for _, step := range []struct {
		at    Rank
		chunk int64
		ready int64
	}{{1, 1, 0}, {0, 0, 2}, {1, 2, 3}, {1, 3, 4}, {0, 4, 5}, {1, 5, 6}, {0, 7, 6}, {1, 6, 8}} {
		if s.report(step.at, step.chunk); target.ready() != step.ready*shareChunk {
			t.Errorf("%d bytes are ready after chunk %d, want %d", target.ready(), step.chunk, step.ready*shareChunk)
		}
	}
	if s.report(1, 8); target.ready() != shareSize || target.state != complete {
		t.Errorf("%d bytes are ready at the end, want all", target.ready())
	}
	for _, call := range []CallID{2, 3} {
		if !slices.ContainsFunc(s.results, func(r CallResult) bool { return r.Call == call && r.Code == OK }) {
			t.Errorf("results are %+v, want those of the Reduce and the Get", s.results)
		}
	}
	if n := len(s.cores[0].lent) + len(s.cores[1].tasks) + target.serve.leases; n != 0 {
		t.Errorf("%d chunks are left", n)
	}
}

// Goal: the caller folds all of an object of few chunks, and of one that nobody waits for. A rank that begins to wait
// folds chunks from then on.
func TestChunksThatAreNotShared(t *testing.T) {
	few := newSharingOf(t, MutantNone, allNear, leastShared*shareChunk-8, true)
	alone := newSharingOf(t, MutantNone, allNear, shareSize, false)
	for _, s := range []*sharing{few, alone} {
		if a, b := s.chunks(0), s.chunks(1); !slices.Equal(a, []int64{0}) || len(b) != 0 {
			t.Errorf("the caller folds chunks %v and the other rank %v, want 0 and none", a, b)
		}
	}
	alone.cores[1].Get(3, "sum")
	if alone.settle(); !slices.Equal(alone.chunks(1), []int64{1, 2}) {
		t.Errorf("a rank that waits folds chunks %v, want 1 and 2", alone.chunks(1))
	}
}

// Goal: the memory of a target that was given up is not used again while another rank may write to it, until that has
// said that it has, or is dead.
func TestSharedMemoryStays(t *testing.T) {
	for _, m := range withAndWithout(MutantFreeShared) {
		for _, dies := range []bool{false, true} {
			s := newSharing(t, m, allNear)
			c := s.cores[0]
			before := c.arena.Used()
			c.Cancel(2)
			s.settle() // the other rank has given back what it was lent
			if freed := c.arena.Used() < before; freed != (m == MutantFreeShared) {
				t.Errorf("%v: memory that another rank writes to was given back: %v", m, freed)
			}
			if m != MutantNone {
				continue
			}
			if dies {
				c.Down(1)
			} else {
				s.cores[1].Sent(s.folds[1].number)
				s.settle()
				s.cores[1].Sent(s.folds[2].number)
				s.settle()
			}
			if c.arena.Used() != before-shareSize || len(c.lent) != 0 {
				t.Errorf("dies %v: %d bytes are in use, want %d; %d chunks are left", dies, c.arena.Used(), before-shareSize, len(c.lent))
			}
		}
	}
}

// Goal: a rank that cannot read an operand says so, and the caller folds the chunk, and all others.
func TestShareThatCannotBe(t *testing.T) {
	s := newSharing(t, MutantNone, [][]bool{{true, true}, {false, true}})
	for _, chunk := range []int64{0, 2, 1, 3, 4, 5, 6, 7, 8} {
		if n := len(s.folds); n != 1 {
			t.Fatalf("%d folds are under way, want one at the caller", n)
		}
		s.report(0, chunk)
	}
	if o := s.cores[0].objects["sum"]; o.state != complete {
		t.Error("the target is not complete")
	}
}

// Goal: a rank does not fold with the bytes of one that is dead, nor counts what it has folded of it.
func TestShareOfTheDead(t *testing.T) {
	near := []bool{true, true, true}
	c := New(Config{Rank: 1, Size: 3, Capacity: 1 << 10, Chunk: 64, Inline: -1, Near: near})
	m := Share{Ref: 5, Op: 9, Off: 64, Size: 64, From: []byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}}
	var out Output
	answer := func(when string) {
		t.Helper()
		i := slices.IndexFunc(out.Sends, func(s Send) bool { return s.Msg.Kind() == KindShared })
		if i < 0 || out.Sends[i].To != 0 || out.Sends[i].Msg.shared() != (Shared{Ref: 5, Code: Gone}) {
			t.Errorf("%s: messages are %+v, want word that it cannot be", when, out.Sends)
		}
	}
	c.Receive(0, m.message())
	c.Drain(&out)
	if len(out.Commands) != 2 || !slices.Equal(out.Commands[0].From, []Operand{{2, 0}, {1, 256}}) {
		t.Fatalf("commands are %+v, want a fold of bytes of ranks 2 and 1", out.Commands)
	}
	number := out.Commands[1].Transfer
	c.Down(2)
	c.Drain(&out)
	answer("the rank died meanwhile")
	c.Sent(number)
	c.Receive(0, m.message())
	if c.Drain(&out); len(out.Commands) != 0 || len(out.Sends) != 1 {
		t.Errorf("commands are %+v and messages %+v after the death, want one message", out.Commands, out.Sends)
	}
	answer("the rank was dead")
}

// Goal: those fold chunks that have nothing but a source in the reduction, each once, if the target is long enough and all
// inputs are near.
func TestWhoShares(t *testing.T) {
	ins := []In{{Rank: 1, Position: 0}, {Rank: 2, Position: 1}, {Rank: 1, Position: 2}}
	r := &reduction{size: 100, places: []place{{}, {ins: []In{{Rank: 1, Position: 0}}}, {}}}
	for _, k := range []struct {
		from int64
		near []bool
		want []Rank
	}{
		{100, []bool{true, true, true}, []Rank{1}},
		{101, []bool{true, true, true}, nil},
		{0, []bool{true, true, true}, nil},
		{100, []bool{true, true, false}, nil},
	} {
		c := New(Config{Size: 3, Capacity: 1 << 10, Near: k.near, ShareFrom: k.from})
		if got := c.helpersOf(r, ins); !slices.Equal(got, k.want) {
			t.Errorf("from %d bytes, near %v: ranks %v fold chunks of 100 bytes, want %v", k.from, k.near, got, k.want)
		}
	}
}

// Goal: who is asked to fold hears of it before the caller folds itself, and the caller hears of a chunk before the next
// one is folded.
func TestAskedBeforeFolds(t *testing.T) {
	s := newSharing(t, MutantNone, allNear)
	order := func(at Rank) (folds, after []int) {
		var out Output
		s.cores[at].Drain(&out)
		for i, cmd := range out.Commands {
			if cmd.Op == OpFold {
				folds = append(folds, i)
			}
		}
		for _, snd := range out.Sends {
			if k := snd.Msg.Kind(); k == KindShare || k == KindShared {
				after = append(after, snd.After)
			}
		}
		return folds, after
	}
	own, other := s.folds[0].number, s.folds[1].number
	s.cores[1].Sent(other)
	if folds, after := order(1); !slices.Equal(folds, []int{0}) || !slices.Equal(after, []int{0}) {
		t.Errorf("commands %v are folds, messages go out after %v of them, want one fold behind the message", folds, after)
	}
	refs := sortedKeys(s.cores[0].lent)
	s.cores[0].Receive(1, Shared{Ref: refs[0]}.message())
	s.cores[0].Sent(own)
	if folds, after := order(0); len(folds) != 1 || len(after) != 1 || after[0] > folds[0] {
		t.Errorf("commands %v are folds, messages go out after %v of them, want one fold behind the message", folds, after)
	}
}
