package numbers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/notify"
)

func TestPlaces(t *testing.T) {
	table := NewPlaces[string](4)
	word := func(s string) func() (*string, error) { return func() (*string, error) { return &s, nil } }
	place := func(i int) *string { s := fmt.Sprint(i); return &s }
	table.Fill(1, place)
	if s := table.Get(0); s == nil || *s != "0" {
		t.Errorf("the first is %v, want 0", s)
	}
	if got := table.Reserve(3, func() int { t.Error("hopped"); return 1 }); got != 3 {
		t.Errorf("reserved %d, want 3", got)
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		number int
		drawn  bool
		make   func() (*string, error)
		want   error
	}{
		{-1, false, nil, ErrRange},
		{4, true, nil, ErrRange},
		{0, true, nil, ErrTaken},
		{3, false, nil, ErrReserved},
		{2, false, func() (*string, error) { return nil, broken }, broken},
		{2, false, word("two"), nil},
		{3, true, word("three"), nil},
	} {
		if s, err := table.Put(c.number, c.drawn, c.make); !errors.Is(err, c.want) || (s != nil) != (c.want == nil) {
			t.Errorf("put %d, drawn %t: %v, %v; want %v", c.number, c.drawn, s, err, c.want)
		}
	}
	if got := table.Free(0); got != 1 {
		t.Errorf("the lowest free number is %d, want 1", got)
	}
	if got := table.Free(2); got != -1 {
		t.Errorf("from 2 on, %d is free, want none", got)
	}
	var all []string
	for _, s := range table.All() {
		all = append(all, *s)
	}
	if want := []string{"0", "two", "three"}; !slices.Equal(all, want) {
		t.Errorf("there are %v, want %v", all, want)
	}
	if s := table.Add(place); s == nil || *s != "1" || table.Add(place) != nil {
		t.Errorf("the last free number is %v, want 1, and then none", s)
	}
	table.Remove(3)
	if table.Get(3) != nil || table.Get(9) != nil || table.Free(0) != -1 {
		t.Error("a number that was removed is free, though a draw has it")
	}
	table.Release(3)
	if got := table.Free(0); got != 3 || table.Len() != 4 {
		t.Errorf("%d of %d is free, want 3 of 4", got, table.Len())
	}
}

// Reserve passes over numbers that are taken one by one, and over those that are reserved as hop says.
func TestReservePassesOver(t *testing.T) {
	table := NewPlaces[int](10)
	for _, i := range []int{9, 8, 3} {
		if _, err := table.Put(i, false, func() (*int, error) { return new(int), nil }); err != nil {
			t.Fatal(err)
		}
	}
	hop := func() int { return 3 }
	for _, want := range []int{7, 4, 1, -1} {
		if got := table.Reserve(9, hop); got != want {
			t.Errorf("reserved %d, want %d", got, want)
		}
	}
	if got := table.Reserve(2, hop); got != 2 {
		t.Errorf("reserved %d up to 2", got)
	}
}

// A member of a drawing is one rank's part in it.
type member struct {
	*Draw
	rank base.Rank
	vote notify.Value // 0 until it is cast
}

// step carries out the next action of a drawing, whose members all vote before one counts. It
// reports whether the drawing is over, and whether that is since no number is free.
func step(members []*member) (over, none bool) {
	for _, m := range rand.Perm(len(members)) {
		if members[m].vote == 0 {
			members[m].vote = members[m].Vote()
			return false, false
		}
	}
	least := members[0].vote
	for _, m := range members {
		least = min(least, m.vote)
	}
	for _, m := range members {
		if again := m.Vote(); again != m.vote {
			panic(fmt.Sprintf("the vote changed from %d to %d before it was counted", m.vote, again))
		}
	}
	goes := 0
	for _, m := range members {
		if m.Count(least) {
			goes++
		}
		m.vote = 0
	}
	if goes != 0 && goes != len(members) {
		panic("members decide differently")
	}
	return goes == 0 || members[0].Found(), goes == 0
}

// TestDraws has drawings of random groups of a job at a time, over tables in which other numbers
// are taken. Each finds a number that is free at all its members and that no drawing it shares a
// member with has found, and fails only if there is none.
func TestDraws(t *testing.T) {
	const ranks = 6
	for range 10 {
		count := 2 + rand.IntN(40)
		var tables [ranks]*Places[int]
		for r := range tables {
			tables[r] = NewPlaces[int](count)
			for range rand.IntN(count) {
				_, _ = tables[r].Put(rand.IntN(count), false, func() (*int, error) { return new(int), nil }) // it may be taken
			}
		}
		var drawings [][]*member
		for range 1 + rand.IntN(4) {
			var members []*member
			for _, r := range rand.Perm(ranks)[:1+rand.IntN(ranks)] {
				votes := Votes{base.Rank(r), ranks}
				members = append(members, &member{Draw: NewDraw(tables[r], count, votes), rank: base.Rank(r)})
			}
			drawings = append(drawings, members)
		}
		var found []int // index is the drawing; -1 if it found none
		over := make([]bool, len(drawings))
		for range drawings {
			found = append(found, -1)
		}
		for slices.Contains(over, false) {
			i := rand.IntN(len(drawings))
			if over[i] {
				continue
			}
			none := false
			if over[i], none = step(drawings[i]); !over[i] || none {
				continue
			}
			found[i] = drawings[i][0].Number()
			for _, m := range drawings[i] {
				if m.Number() != found[i] || tables[m.rank].Get(found[i]) != nil {
					t.Fatalf("rank %d has drawn %d, another one %d", m.rank, m.Number(), found[i])
				}
			}
		}
		check(t, tables[:], drawings, found)
	}
}

// check compares what drawings have found.
func check(t *testing.T, tables []*Places[int], drawings [][]*member, found []int) {
	t.Helper()
	taken := make([]map[int]bool, len(tables)) // by drawings; index is the rank
	for r := range taken {
		taken[r] = make(map[int]bool)
	}
	for i, members := range drawings {
		for _, m := range members {
			switch {
			case found[i] < 0 && m.number >= 0:
				t.Fatalf("rank %d has reserved %d in a drawing that failed", m.rank, m.number)
			case found[i] >= 0 && taken[m.rank][found[i]]:
				t.Fatalf("two drawings have found %d at rank %d", found[i], m.rank)
			case found[i] >= 0:
				taken[m.rank][found[i]] = true
			}
		}
	}
	for i, members := range drawings {
		for number := range tables[0].Len() {
			if found[i] < 0 && !slices.ContainsFunc(members, func(m *member) bool {
				return tables[m.rank].Get(number) != nil || taken[m.rank][number]
			}) {
				t.Fatalf("a drawing found none, and %d is free at all its members", number)
			}
		}
	}
}

// A drawing alone finds the highest number that is free at all, in few ballots.
func TestDrawAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		count int
		taken [][]int // index is the member
		want  int     // -1 for none
	}{
		{"all free", 5, [][]int{{}, {}, {}}, 4},
		{"the highest taken at one", 5, [][]int{{}, {4}, {}}, 3},
		{"another one taken at each", 5, [][]int{{4}, {3}, {2}}, 1},
		{"a ladder", 6, [][]int{{5, 3, 1}, {4, 2}}, 0},
		{"none", 2, [][]int{{0}, {1}}, -1},
		{"one member", 3, [][]int{{2}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var members []*member
			for r, taken := range c.taken {
				table := NewPlaces[int](c.count)
				for _, i := range taken {
					if _, err := table.Put(i, false, func() (*int, error) { return new(int), nil }); err != nil {
						t.Fatal(err)
					}
				}
				members = append(members, &member{Draw: NewDraw(table, c.count, Votes{base.Rank(r), len(c.taken)})})
			}
			over, none := false, false
			for steps := 0; !over; steps++ {
				if steps > 100 {
					t.Fatal("it does not end")
				}
				over, none = step(members)
			}
			if got := members[0].Number(); got != c.want || none != (c.want < 0) {
				t.Errorf("found %d, none free: %t; want %d", got, none, c.want)
			}
		})
	}
}
