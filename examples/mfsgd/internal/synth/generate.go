package synth

import (
	"math"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
)

// The parts of a rating, in stars. Their squares add up to 1.15; MovieLens 25M
// has a variance of 1.12, and the ends of the scale take away some of it.
const (
	meanStars = 3.53
	userSD    = 0.45 // some users like everything
	itemSD    = 0.45 // some films are liked by everybody
	tasteSD   = 0.50 // what is left that a model can learn
	noiseSD   = 0.70 // and what it cannot

	tasteRank = 8 // dimensions of taste
)

// Purposes of random streams, so that no two draws share one.
const (
	streamActivity = iota + 1
	streamItem
	streamUser
)

// stream returns the random numbers of one user or item for one purpose.
func stream(seed uint64, purpose, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(purpose)<<40|uint64(index)))
}

// Generate makes the part of a set that belongs to a rank. The names of its
// users are their numbers in the whole set, from 0.
//
// Besides the rank's own ratings it needs 8 bytes for every user and 80 for every item.
// Fewer users than ranks is a *ratings.FewUsersError.
func Generate(shape Dimensions, part ratings.Part) (*ratings.Shard, error) {
	if err := shape.check(); err != nil {
		return nil, err
	}
	if shape.Users < part.Ranks {
		return nil, &ratings.FewUsersError{Source: "synthetic set " + shape.String(), Users: shape.Users, Ranks: part.Ranks}
	}
	var (
		owners = ratings.NewOwners(part.Ranks)
		truth  = newTruth(shape, part.Seed)
		pick   = newChooser(shape.Items)
		mine   ratings.Builder
	)
	for u, count := range activity(shape, part.Seed) {
		owner := owners.Next()
		owners.Count(owner, count)
		if owner != part.Rank {
			continue
		}
		local := mine.AddUser(uint64(u))
		rng := stream(part.Seed, streamUser, u)
		taste := newTaste(rng, userSD)
		pick.choose(rng, count, func(item uint32) {
			half := toHalves(truth.expect(taste, item) + noiseSD*rng.NormFloat64())
			mine.Add(local, item, half, ratings.HeldOut(uint64(u), uint64(item), part.Seed))
		})
	}
	s := mine.Build()
	s.Items, s.TotalUsers, s.TotalRatings = shape.Items, shape.Users, shape.Ratings
	return s, nil
}

// A taste is what is true of one user or one item.
type taste struct {
	bias    float32
	factors [tasteRank]float32
}

// newTaste draws a taste whose bias has the given standard deviation.
func newTaste(rng *rand.Rand, biasSD float64) (t taste) {
	t.bias = float32(biasSD * rng.NormFloat64())
	sd := normalize(tasteSD, tasteRank)
	for k := range t.factors {
		t.factors[k] = float32(sd * rng.NormFloat64())
	}
	return t
}

// truth is what is true of the items.
type truth struct{ items []taste }

func newTruth(shape Dimensions, seed uint64) truth {
	items := make([]taste, shape.Items)
	for i := range items {
		items[i] = newTaste(stream(seed, streamItem, i), itemSD)
	}
	return truth{items}
}

// expect returns the stars that a user would give an item but for the noise.
func (t truth) expect(user taste, item uint32) float64 {
	it := &t.items[item]
	sum := user.bias + it.bias
	for k, f := range user.factors {
		sum += f * it.factors[k]
	}
	return meanStars + float64(sum)
}

// toHalves rounds stars to half stars on the scale.
func toHalves(stars float64) uint8 {
	return uint8(min(max(math.Round(2*stars), 1), ratings.MaxHalves))
}
