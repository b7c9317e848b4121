package synth

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A chooser draws the items a user rates: distinct ones, an item's chance at
// each draw being proportional to its popularity among those left.
//
// Popularity falls with the square of an item's place in the ranking, shifted by
// a two-hundredth of the number of items (a Zipf-Mandelbrot law). At MovieLens
// 25M's size that gives 50,895 ratings to the first item, 5,572 to the
// thousandth and 14 to the one in the middle (seed 1); the first and the middle
// one of the data set have 81,491 and 6.
type chooser struct {
	items  int
	offset float64 // the shift of the ranking
	total  float64 // of the continuous law, from place 0 to items
	step   int     // item of place k is k*step mod items, see newChooser

	seen  []uint32 // seen[item] == stamp: drawn already for this user
	stamp uint32
	keys  []key // scratch of chooseMany
}

// A key orders items for one user.
type key struct {
	value float64
	item  uint32
}

func newChooser(items int) *chooser {
	c := &chooser{items: items, offset: 1 + float64(items)/200, seen: make([]uint32, items)}
	c.total = 1/c.offset - 1/(c.offset+float64(items))
	// Places are spread over item numbers, because numbers in order of
	// popularity would flatter the caches of whoever learns from the set.
	c.step = max(1, int(float64(items)*0.6180339887))
	for gcd(c.step, items) != 1 {
		c.step++
	}
	return c
}

// item returns the item at a place of the ranking.
func (c *chooser) item(place int) uint32 {
	return uint32(int64(place) * int64(c.step) % int64(c.items))
}

// weight returns the popularity of a place: the integral of the law over it.
func (c *chooser) weight(place int) float64 {
	x := c.offset + float64(place)
	return 1/x - 1/(x+1)
}

// choose calls use for count distinct items.
func (c *chooser) choose(rng *rand.Rand, count int64, use func(item uint32)) {
	// Drawing again whatever was drawn before is quick until a user has used up
	// most of the popular items.
	if count > int64(c.items)/8 {
		c.chooseMany(rng, int(count), use)
		return
	}
	c.stamp++
	for count > 0 {
		// The inverse of the law's distribution function.
		x := 1/(1/c.offset-rng.Float64()*c.total) - c.offset
		item := c.item(min(int(x), c.items-1))
		if c.seen[item] == c.stamp {
			continue
		}
		c.seen[item] = c.stamp
		use(item)
		count--
	}
}

// chooseMany has the same distribution as drawing one after the other and takes
// the same time for any count: every item arrives after an exponential time of
// its rate, and the first count are taken.
func (c *chooser) chooseMany(rng *rand.Rand, count int, use func(item uint32)) {
	c.keys = c.keys[:0]
	for place := range c.items {
		c.keys = append(c.keys, key{value: rng.ExpFloat64() / c.weight(place), item: c.item(place)})
	}
	slices.SortFunc(c.keys, func(a, b key) int { return cmp.Compare(a.value, b.value) })
	for _, k := range c.keys[:count] {
		use(k.item)
	}
}

// gcd returns the greatest common divisor of a and b, which are positive.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// normalize is the standard deviation that each of n factors must have for
// their product with n others to have a standard deviation of sd.
func normalize(sd float64, n int) float64 {
	return math.Sqrt(sd / math.Sqrt(float64(n)))
}
