package gaspi

// A tree is how something goes up from the members of a group to the first one and
// comes back down: the children of member i are 16i+1 to 16i+16. Each member has a
// slot for each of its children, and one for its parent.
type tree struct {
	g        *Group
	has      func(slot int) bool // something has come into a slot
	upStop   func() error        // asked by waits for the children whether they should end
	downStop func() error        // likewise for the parent
}

// A treeStage is how far a member has come.
type treeStage int

const (
	gathering  treeStage = iota // waiting for the children
	delivering                  // to the parent
	awaiting                    // the result
	spreading                   // the result to the children
)

// slotResult is the slot for the parent; those for the children are 0 to fanout-1.
const slotResult = fanout

func (t *tree) plant(g *Group, has func(slot int) bool) {
	t.g, t.has = g, has
	t.upStop, t.downStop = t.whyUp, t.whyDown
}

func (t *tree) parent() int     { return parentOf(t.g.me) }
func (t *tree) firstChild() int { return firstChildOf(t.g.me) }
func (t *tree) children() int   { return childrenOf(t.g.me, len(t.g.ranks)) }

// The tree of n members.
func parentOf(me int) int      { return (me - 1) / fanout }
func firstChildOf(me int) int  { return me*fanout + 1 }
func childrenOf(me, n int) int { return max(0, min(fanout, n-firstChildOf(me))) }

// relatives are the parent and the children of member me of n.
func relatives(me, n int) []int {
	var members []int
	if me > 0 {
		members = append(members, parentOf(me))
	}
	for c := range childrenOf(me, n) {
		members = append(members, firstChildOf(me)+c)
	}
	return members
}

// missing are the children from which nothing has come.
func (t *tree) missing() []Rank {
	var ranks []Rank
	for c := range t.children() {
		if !t.has(c) {
			ranks = append(ranks, t.g.ranks[t.firstChild()+c])
		}
	}
	return ranks
}

// whyUp and whyDown are like barrier.why.
func (t *tree) whyUp() error {
	return t.g.overWithout(t.missing)
}

func (t *tree) whyDown() error {
	return t.g.overWithout(func() []Rank {
		if t.has(slotResult) {
			return nil
		}
		return []Rank{t.g.ranks[t.parent()]}
	})
}
