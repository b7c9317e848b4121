package schedule

import "testing"

func TestOverlaps(t *testing.T) {
	a := Region{Rank: 1, Buf: In, Off: 4, Len: 4}
	for _, c := range []struct {
		b    Region
		want bool
	}{
		{a, true},
		{Region{1, In, 0, 5}, true}, {Region{1, In, 0, 4}, false},
		{Region{1, In, 7, 5}, true}, {Region{1, In, 8, 5}, false},
		{Region{1, In, 5, 1}, true}, {Region{1, In, 5, 0}, false}, {Region{1, In, 0, 20}, true},
		{Region{2, In, 4, 4}, false}, {Region{1, Out, 4, 4}, false},
	} {
		if a.Overlaps(c.b) != c.want || c.b.Overlaps(a) != c.want {
			t.Errorf("%v and %v overlap: %v, want %v", a, c.b, a.Overlaps(c.b), c.want)
		}
	}
}

func TestWhatAScheduleTouches(t *testing.T) {
	in, mine, theirs := Region{0, In, 0, 2}, Region{0, Scratch, 0, 2}, Region{1, Scratch, 0, 2}
	out := Region{1, Out, 0, 2}
	for _, c := range []struct {
		name            string
		step            Step
		exposes, shares bool
	}{
		{"local", Step{Kind: Combine, Dst: []Region{mine}, Src: []Region{in}}, false, false},
		{"put into scratch", Step{Kind: Put, Peer: 1, Slot: 3, Dst: []Region{theirs}, Src: []Region{in}}, false, false},
		{"put without a post", Step{Kind: Put, Peer: 1, Slot: NoSlot, Dst: []Region{theirs}, Src: []Region{in}}, false, false},
		{"put into a result", Step{Kind: Put, Peer: 1, Slot: 2, Dst: []Region{out}, Src: []Region{in}}, true, false},
		{"fold from scratch", Step{Kind: Combine, Dst: []Region{mine}, Src: []Region{in, theirs}}, false, true},
		{"fold into a result", Step{Kind: Combine, Dst: []Region{mine, out}, Src: []Region{in}}, true, true},
		{"signal", Step{Kind: Signal, Peer: 1, Slot: 3}, false, false},
		{"signal to another", Step{Kind: Signal, Peer: 2, Slot: 3}, false, false},
		{"await", Step{Kind: Await, Peer: 1, Slot: 3, Count: 1}, false, false},
	} {
		s := &Schedule{Size: 3, Lanes: []Lane{{{Kind: Flush}}, {c.step}}}
		if s.Exposes() != c.exposes || s.Shares() != c.shares || s.Steps() != 2 {
			t.Errorf("%s: exposes %v, shares %v, %d steps; want %v, %v, 2", c.name, s.Exposes(), s.Shares(), s.Steps(), c.exposes, c.shares)
		}
	}
}

func TestCopiesForPuts(t *testing.T) {
	const n = 4
	vector, copied := Region{0, In, 2, n}, Region{0, Scratch, 0, n}
	there := Region{1, Eager, 0, n}
	copies := Step{Kind: Combine, Dst: []Region{copied}, Src: []Region{vector}}
	puts := Step{Kind: Put, Peer: 1, Dst: []Region{there}, Src: []Region{copied}}
	with := func(s Step, change func(*Step)) Step { change(&s); return s }
	for _, c := range []struct {
		name string
		lane Lane
		want bool
	}{
		{"a put", Lane{copies, puts}, true},
		{"two puts and credits", Lane{copies, {Kind: AwaitCredit}, puts, puts, {Kind: Credit}}, true},
		{"of a result", Lane{with(copies, func(s *Step) { s.Src = []Region{{0, Out, 2, n}} }), puts}, true},
		{"to eager memory", Lane{with(copies, func(s *Step) { s.Dst = []Region{{0, Eager, 0, n}} }), with(puts, func(s *Step) { s.Src = []Region{{0, Eager, 0, n}} })}, true},
		{"nothing", nil, false},
		{"a copy alone", Lane{copies}, false},
		{"a put first", Lane{puts, copies}, false},
		{"a fold", Lane{with(copies, func(s *Step) { s.Src = []Region{vector, vector} }), puts}, false},
		{"two copies", Lane{with(copies, func(s *Step) { s.Dst = []Region{copied, {0, Scratch, n, n}} }), puts}, false},
		{"of scratch", Lane{with(copies, func(s *Step) { s.Src = []Region{{0, Scratch, n, n}} }), puts}, false},
		{"to a vector", Lane{with(copies, func(s *Step) { s.Dst = []Region{{0, Out, 0, n}} }), with(puts, func(s *Step) { s.Src = []Region{{0, Out, 0, n}} })}, false},
		{"a put of a part", Lane{copies, with(puts, func(s *Step) { s.Src = []Region{{0, Scratch, 0, n - 1}} })}, false},
		{"a put of something else, too", Lane{copies, puts, with(puts, func(s *Step) { s.Src = []Region{vector} })}, false},
		{"a wait", Lane{copies, {Kind: Await}, puts}, false},
		{"a copy at the end", Lane{copies, puts, copies}, false},
	} {
		if got := c.lane.CopiesForPuts(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
