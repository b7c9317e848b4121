package boot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestGather has ranks tell each other texts: each gets those of all.
func TestGather(t *testing.T) {
	for _, parts := range [][]string{
		{"a", "a", "b", "c", "c"},
		{"", "", "x", ""},
		{strings.Repeat("é", MaxPart/2), "", "\t"},
	} {
		forEachJob(t, len(parts), func(t *testing.T, j *job) {
			// A call that ends early has told its part, which counts.
			if _, err := j.sessions[0].Gather(over(), "g", "w", parts[0]); err == nil {
				t.Fatal("rank 0 was alone and has gathered")
			}
			var all sync.WaitGroup
			for r, s := range j.sessions {
				all.Go(func() {
					mine := parts[r]
					if r == 0 {
						mine = "another"
					}
					got, err := s.Gather(testenv.Context(t), "g", "w", mine)
					if d := cmp.Diff(parts, got); d != "" || err != nil {
						t.Errorf("rank %d: %v (-want +got):\n%s", r, err, d)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestGatherComparesWords has ranks that disagree: nobody gets parts.
func TestGatherComparesWords(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		var all sync.WaitGroup
		for r, s := range j.sessions {
			all.Go(func() {
				if got, err := s.Gather(testenv.Context(t), "g", fmt.Sprint(r), "p"); got != nil || !errors.Is(err, base.ErrMismatch) {
					t.Errorf("rank %d: %v, %v, want ErrMismatch", r, got, err)
				}
			})
		}
		all.Wait()
	})
}

// TestPartsOfManyRanks packs the parts of the most ranks that a job has: hosts filled one after
// the other, in turn, and one for each rank. Parts that do not fit are left out.
func TestPartsOfManyRanks(t *testing.T) {
	const ranks = 1 << 16
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]string, ranks)
	for r := range noise {
		b := make([]byte, MaxPart)
		for i := range b {
			b[i] = "0123456789abcdef"[random.IntN(16)]
		}
		noise[r] = string(b)
	}
	for _, c := range []struct {
		name string
		part func(r int) string
		most int // bytes
	}{
		{"blocks", func(r int) string { return fmt.Sprint("node", r/64) }, MaxValue},
		{"in turn", func(r int) string { return fmt.Sprint("node", r%1000) }, MaxValue},
		{"alone", func(r int) string { return fmt.Sprint("rank-", r) }, MaxValue},
		{"noise", func(r int) string { return noise[r] }, 0},
	} {
		parts := make([]string, ranks)
		for r := range parts {
			parts[r] = c.part(r)
		}
		packed := packParts(parts)
		if len(packed) > c.most {
			t.Errorf("%s: %d bytes, more than %d", c.name, len(packed), c.most)
		}
		if c.most > 0 {
			got, err := unpackParts(packed, ranks)
			if d := cmp.Diff(parts, got); d != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", c.name, err, d)
			}
		}
	}
}

// TestUnpackPartsOfNonsense reads what no hub packs.
func TestUnpackPartsOfNonsense(t *testing.T) {
	for _, c := range []struct {
		packed []byte
		size   int
		want   string
	}{
		{[]byte("nonsense"), 2, "malformed"},
		{packParts([]string{"a", "b"}), 3, "2 of 3"},
		{packParts([]string{"a", "b", "c"}), 2, "3 of 2"},
	} {
		if got, err := unpackParts(c.packed, c.size); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %d ranks: %q, %v, want an error with %q", c.packed, c.size, got, err, c.want)
		}
	}
}
