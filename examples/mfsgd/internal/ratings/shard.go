package ratings

// MaxHalves is the best rating, counted in half stars.
const MaxHalves = 10

// Rows are ratings grouped by user: those of user u are
// Item[Start[u]:Start[u+1]] and Half[Start[u]:Start[u+1]].
type Rows struct {
	Start []int    // one more than there are users
	Item  []uint32 // dense item numbers, from 0 to Shard.Items-1
	Half  []uint8  // ratings in half stars, from 1 to MaxHalves
}

// Len returns the number of ratings.
func (r *Rows) Len() int { return len(r.Item) }

// User returns the items and the half stars of one user. Both slices belong to r.
func (r *Rows) User(u int) (items []uint32, halves []uint8) {
	from, to := r.Start[u], r.Start[u+1]
	return r.Item[from:to], r.Half[from:to]
}

// A Shard is one rank's part of a set of ratings.
type Shard struct {
	Users []uint64 // names of the users this rank owns; the index is the local user
	Train Rows     // what to learn from
	Held  Rows     // what was set aside to measure the error on

	Items        int   // distinct items in the whole set, the same on every rank
	TotalUsers   int   // users of all ranks
	TotalRatings int64 // ratings of all ranks, both kinds
}

// A Builder collects a shard's ratings in any order.
type Builder struct {
	users       []uint64
	train, held []entry
}

// An entry is a rating before it is grouped by user.
type entry struct {
	user, item uint32
	half       uint8
}

// AddUser makes room for one more user and returns the local user.
func (b *Builder) AddUser(name uint64) int {
	b.users = append(b.users, name)
	return len(b.users) - 1
}

// Add stores one rating of a local user. Half counts half stars.
func (b *Builder) Add(user int, item uint32, half uint8, heldOut bool) {
	e := entry{user: uint32(user), item: item, half: half}
	if heldOut {
		b.held = append(b.held, e)
		return
	}
	b.train = append(b.train, e)
}

// Build groups what was added by user and empties b. The totals of the shard
// are left to the caller, who alone knows them.
func (b *Builder) Build() *Shard {
	s := &Shard{Users: b.users}
	s.Train = group(b.train, len(b.users))
	b.train = nil
	s.Held = group(b.held, len(b.users))
	*b = Builder{}
	return s
}

// group sorts entries by user and keeps the order within each (a counting sort).
func group(entries []entry, users int) Rows {
	r := Rows{
		Start: make([]int, users+1),
		Item:  make([]uint32, len(entries)),
		Half:  make([]uint8, len(entries)),
	}
	for _, e := range entries {
		r.Start[e.user+1]++
	}
	for u := range users {
		r.Start[u+1] += r.Start[u]
	}
	next := make([]int, users)
	copy(next, r.Start)
	for _, e := range entries {
		at := next[e.user]
		next[e.user]++
		r.Item[at], r.Half[at] = e.item, e.half
	}
	return r
}
