package sim

import (
	"fmt"
	"slices"
)

// content is the bytes of the object that a put with this tag makes. Sums of different
// tags differ too, so that a result shows exactly what went into it, and how often.
func content(tag uint64, size int64) []byte {
	b := make([]byte, size)
	x := tag
	for i := range b {
		x += 0x9e3779b97f4a7c15
		z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		b[i] = byte(z >> 56)
	}
	return b
}

func add(a, b []byte) []byte {
	sum := slices.Clone(a)
	for i := range sum {
		sum[i] += b[i]
	}
	return sum
}

// An origin is a way in which an object may have come to be.
type origin struct {
	put  bool
	tag  uint64 // of a put
	size int64

	sources []string // of a reduction
	count   int
	used    []int // nil if the caller never learned
}

// An oracle knows what has been put and reduced, and therefore what may be read.
type oracle struct {
	made map[string][]origin
	memo map[string][]string
}

func newOracle() *oracle { return &oracle{made: map[string][]origin{}, memo: map[string][]string{}} }

// note records an origin and returns its place.
func (o *oracle) note(id string, from origin) int {
	o.made[id] = append(o.made[id], from)
	clear(o.memo)
	return len(o.made[id]) - 1
}

// values are the contents that an object may have.
func (o *oracle) values(id string) []string {
	if v, ok := o.memo[id]; ok {
		return v
	}
	o.memo[id] = nil // reductions make no circles; this ends a search if they do
	var all []string
	for _, from := range o.made[id] {
		if from.put {
			all = append(all, string(content(from.tag, from.size)))
			continue
		}
		all = append(all, o.sums(from)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	o.memo[id] = all
	return all
}

// sums are the contents that a reduction may have.
func (o *oracle) sums(from origin) []string {
	if from.used != nil {
		return o.sum(from.sources, from.used)
	}
	var all []string
	for set := range 1 << len(from.sources) {
		var used []int
		for i := range from.sources {
			if set>>i&1 == 1 {
				used = append(used, i)
			}
		}
		if len(used) == from.count {
			all = append(all, o.sum(from.sources, used)...)
		}
	}
	return all
}

// sum adds up each choice of what the used sources may be.
func (o *oracle) sum(sources []string, used []int) []string {
	var sums []string
	for n, i := range used {
		values := o.values(sources[i])
		if n == 0 {
			sums = values
			continue
		}
		var next []string
		for _, a := range sums {
			for _, b := range values {
				if len(a) == len(b) {
					next = append(next, string(add([]byte(a), []byte(b))))
				}
			}
		}
		slices.Sort(next)
		sums = slices.Compact(next)
	}
	return sums
}

// check says what is wrong with content that was read.
func (o *oracle) check(id string, got []byte) error {
	values := o.values(id)
	if slices.Contains(values, string(got)) {
		return nil
	}
	return fmt.Errorf("%s is %x, which it was never made to be: %d possibilities, the first %x", id, got, len(values), firstOf(values))
}

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
