// Package spelling finds what a user meant by a name that commands do not know.
//
// It does not know what is named.
package spelling

import (
	"fmt"
	"strings"
)

// Nearest returns the name that a misspelt one may stand for: the one that begins so, or else the one that the fewest
// letters lead to, at most two, changed, left out or put in. Digits are not misspelt: figure-12 stands for no figure-1.
// It returns "" if there is none, or more than one.
func Nearest(misspelt string, names []string) string {
	var begin, near []string
	least := 2
	for _, name := range names {
		if strings.HasPrefix(name, misspelt) {
			begin = append(begin, name)
		}
		d := distance(misspelt, name)
		if d > least || 2*d >= len(misspelt) || digits(misspelt) != digits(name) {
			continue
		}
		if d < least {
			near = nil
		}
		least, near = d, append(near, name)
	}
	switch {
	case len(begin) == 1:
		return begin[0]
	case len(begin) == 0 && len(near) == 1:
		return near[0]
	}
	return ""
}

// Unknown is why a command line makes no sense in which something has none of the names that there are. problem is such
// as "unknown figure". It asks for the nearest name, or else has all.
func Unknown(problem, name string, names []string) error {
	if near := Nearest(name, names); near != "" {
		return fmt.Errorf("%s %q: is it %s?", problem, name, near)
	}
	return fmt.Errorf("%s %q; choose one of %s", problem, name, strings.Join(names, ", "))
}

// distance is the number of letters that lead from a to b, changed, left out or put in.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the letters of a so far, to the first letters of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// digits returns the digits of a name.
func digits(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
}
