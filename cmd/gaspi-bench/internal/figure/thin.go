package figure

import "maps"

// thinned is a sweep with every second length of each grid. The longest stays.
func (s *Sweep) thinned() *Sweep {
	with := *s
	with.Grids = maps.Clone(s.Grids)
	for way, g := range with.Grids {
		g.Bytes = everySecond(g.Bytes)
		with.Grids[way] = g
	}
	return &with
}

// everySecond keeps the last of all, and every second before it.
func everySecond(all []int) []int {
	var kept []int
	for i, n := range all {
		if (len(all)-1-i)%2 == 0 {
			kept = append(kept, n)
		}
	}
	return kept
}
