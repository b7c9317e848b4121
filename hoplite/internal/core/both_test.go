package core

import (
	"slices"
	"testing"
)

// Goal: what is folded of a target is written to the store of the rank that waits for it, too, by whomever it is folded.
// That rank copies what was begun before it asked, which is the first chunk at least, and nothing else.
func TestChunksAreWrittenToBothStores(t *testing.T) {
	for _, begun := range []bool{false, true} {
		s := newSharingOf(t, MutantNone, allNear, shareSize, !begun)
		if begun {
			s.cores[1].Get(3, "sum")
			s.settle()
		}
		copied := s.cores[1].objects["sum"]
		for len(s.folds) > 0 {
			f := s.folds[0]
			at := s.chunkOf(f) * shareChunk
			want := Operand{1, copied.mem.off + at}
			if twice := at > 0; f.cmd.Twice != twice || twice && f.cmd.Also != want {
				t.Errorf("begun %v: chunk %d is folded by %+v, want it at %v, too: %v", begun, at/shareChunk, f.cmd, want, twice)
			}
			before := s.copies
			s.report(f.at, at/shareChunk)
			if n := s.copies - before; n > 0 && at > 0 {
				t.Errorf("begun %v: %d chunks were copied after chunk %d", begun, n, at/shareChunk)
			}
			if ready := s.cores[0].objects["sum"].ready(); copied.mem.have != ready {
				t.Errorf("begun %v: %d bytes are at the rank that waits, want %d", begun, copied.mem.have, ready)
			}
		}
		if copied.state != complete || s.copies != 1 {
			t.Errorf("begun %v: the copy has %d bytes, %d chunks of which were copied, want all and 1", begun, copied.mem.have, s.copies)
		}
	}
}

// Goal: nothing is written to the store of a rank that does not want it any more, once that has been told.
func TestChunksOfWhoHasGivenUp(t *testing.T) {
	s := newSharing(t, MutantNone, allNear)
	s.cores[1].Cancel(3)
	s.cores[1].Delete(4, "b") // nothing is found here any more
	for _, o := range s.cores[1].objects {
		if o.id == "sum" {
			s.cores[1].drop(o, Restart)
		}
	}
	s.settle()
	for _, chunk := range []int64{0, 1, 2} {
		at := slices.IndexFunc(s.folds, func(f sharedFold) bool { return s.chunkOf(f) == chunk })
		s.report(s.folds[at].at, chunk)
	}
	for _, f := range s.folds {
		if f.cmd.Twice {
			t.Errorf("chunk %d is still written to both stores", s.chunkOf(f))
		}
	}
}

// Goal: who waits for short objects folds of them, too, in shorter chunks.
func TestShortObjectsAreFoldedInShortChunks(t *testing.T) {
	for _, k := range []struct {
		size, want int64
		helpers    []Rank
	}{
		{1 << 20, 64 << 10, []Rank{1}}, {2<<20 + 17, 128 << 10, []Rank{1}}, {3 << 20, 192 << 10, []Rank{1}},
		{64 << 20, 256 << 10, []Rank{1}}, {1 << 20, 256 << 10, nil},
	} {
		c := New(Config{Size: 2, Capacity: 1 << 10})
		if got := c.chunkOf(&reductionNode{size: k.size, helpers: k.helpers}); got != k.want {
			t.Errorf("chunks of %d bytes have %d bytes, want %d", k.size, got, k.want)
		}
	}
}
