package ratings

// Owners hands users to ranks, each new user to the rank that has the fewest
// ratings so far (the lowest such rank if there are several).
//
// Ranks that see the same users and counts in the same order decide alike. In a
// file sorted by user, as MovieLens publishes it, loads differ by at most the
// ratings of one user; in any order, no rank is empty once there are as many
// users as ranks.
type Owners struct {
	load  []int64 // ratings per rank
	users []int   // users per rank, which breaks ties between idle ranks
}

// NewOwners returns the assignment to the given number of ranks, all idle.
func NewOwners(ranks int) *Owners {
	return &Owners{load: make([]int64, ranks), users: make([]int, ranks)}
}

// Next chooses the owner of a new user.
func (o *Owners) Next() int {
	best := 0
	for r := 1; r < len(o.load); r++ {
		if o.load[r] < o.load[best] || o.load[r] == o.load[best] && o.users[r] < o.users[best] {
			best = r
		}
	}
	o.users[best]++
	return best
}

// Count adds ratings to the load of a rank.
func (o *Owners) Count(rank int, ratings int64) { o.load[rank] += ratings }
