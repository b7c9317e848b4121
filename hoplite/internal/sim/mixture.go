package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// A mixture is what the programs of an exploration do.
type mixture uint8

const (
	everything mixture = iota // all calls, few and small objects, often too little room
	streams                   // reductions of big objects in small chunks: ranks die in mid-stream
	churn                     // one object that is put, got and deleted by all
	tight                     // many Gets of what does not fit into a store at once
)

// draw chooses a mixture, and what it needs.
func draw(x *explorer, cfg *core.Config) mixture {
	switch x.rng.IntN(8) {
	case 0:
		cfg.Size = 4 + x.rng.IntN(5)
		cfg.Capacity += 1500
		cfg.Slots += 8
		if x.rng.IntN(3) == 0 {
			cfg.Slots = 1 + x.rng.IntN(3) // then Gets and jobs wait for each other's
		}
		return streams
	case 1:
		return churn
	case 2:
		cfg.Capacity, cfg.Inline = int64(64+x.rng.IntN(64)), 0
		return tight
	}
	return everything
}

// drawHosts puts ranks on hosts, in half of the explorations each on one of its own: that is nil.
// It draws apart from all else, so that a seed makes the same programs and deaths whatever it draws.
func drawHosts(seed uint64, cfg *core.Config) []int {
	rng := rand.New(rand.NewPCG(seed, 0x4057))
	if rng.IntN(2) == 0 {
		return nil
	}
	hosts, count := make([]int, cfg.Size), 1+rng.IntN(3)
	for r := range hosts {
		hosts[r] = rng.IntN(count)
	}
	cfg.Star = count == 1 && rng.IntN(2) == 0
	if rng.IntN(4) > 0 {
		cfg.ShareFrom = 1 + rng.Int64N(20)
	}
	cfg.LendFrom = int64(rng.IntN(3)) * (1 + rng.Int64N(40))
	return hosts
}

// prepare chooses ids, programs and deaths.
func (x *explorer) prepare(w *world) {
	deaths := 0
	switch x.mixture {
	case streams:
		x.prepareStreams(w)
		deaths = 1 + x.rng.IntN(2)
	case churn:
		x.prepareChurn(w)
		deaths = x.rng.IntN(4) / 3
	case tight:
		x.prepareTight(w)
		deaths = x.rng.IntN(2)
	default:
		x.prepareAll(w)
		for range x.rng.IntN(w.cfg.Size) {
			deaths += x.rng.IntN(2)
		}
	}
	for i := range 2 {
		x.ids = append(x.ids, fmt.Sprintf("sum%d", i))
	}
	for range deaths {
		w.at(x.rng.Int64N(3000), die, core.Rank(x.rng.IntN(w.cfg.Size)))
	}
}

// object names an object that programs put, and its usual size.
func (x *explorer) object(i int, size int64) {
	id := string(rune('a' + i))
	x.ids = append(x.ids, id)
	x.sizes[id] = size
}

// client adds a program that makes so many calls.
func (x *explorer) client(w *world, r int, calls int) {
	x.clients = append(x.clients, client{rank: core.Rank(r), left: calls})
	x.later(w, len(x.clients)-1)
}

func (x *explorer) prepareAll(w *world) {
	n := 2 + x.rng.IntN(4)
	common := int64(x.rng.IntN(30))
	for i := range n {
		size := common
		if x.rng.IntN(4) == 0 {
			size = int64(x.rng.IntN(40))
		}
		x.object(i, size)
	}
	for r := range w.cfg.Size {
		for range 1 + x.rng.IntN(2) {
			x.client(w, r, 1+x.rng.IntN(6))
		}
	}
}

// prepareStreams lets each rank put an object of its own, then reduce some of all. They are
// so big that what is above a rank that dies has folded a part.
func (x *explorer) prepareStreams(w *world) {
	size := int64(60 + x.rng.IntN(140))
	for r := range w.cfg.Size {
		x.object(r, size)
		x.client(w, r, 2+x.rng.IntN(3))
	}
}

func (x *explorer) prepareChurn(w *world) {
	x.object(0, int64(x.rng.IntN(30)))
	for r := range w.cfg.Size {
		x.client(w, r, 3+x.rng.IntN(6))
	}
}

// prepareTight lets every rank put an object of its own and get those of others.
func (x *explorer) prepareTight(w *world) {
	size := 16 + x.rng.Int64N(16)
	for r := range w.cfg.Size {
		x.object(r, size)
		x.client(w, r, 2+x.rng.IntN(6))
	}
}

// verb chooses a client's next call, and the object it is about.
func (x *explorer) verb(cl *client) (Verb, string) {
	n := len(x.ids) - 2 // the last two are made by reductions
	some, any := x.ids[x.rng.IntN(n)], x.ids[x.rng.IntN(n+2)]
	v := x.rng.IntN(20)
	switch {
	case x.mixture == churn:
		return []Verb{Put, Get, Get, Delete}[v%4], some
	case x.mixture != everything && !cl.began:
		return Put, x.ids[cl.rank]
	case x.mixture == streams:
		v = 7 + v%2*8
	case x.mixture == tight:
		return Get, some
	}
	switch {
	case v < 7 && x.mixture == everything && x.rng.IntN(16) == 0:
		return Put, x.ids[n+x.rng.IntN(2)]
	case v < 7:
		return Put, some
	case v < 14:
		return Get, any
	case v < 15:
		return Delete, any
	case v < 18:
		return Reduce, x.ids[n+x.rng.IntN(2)]
	case v < 19:
		return Wait, some
	}
	return Locate, some
}
