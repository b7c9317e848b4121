// Package phrase writes counts, lists and durations as parts of sentences for a user.
package phrase

import (
	"fmt"
	"strings"
	"time"
)

// Plural returns the form of a word that n of them need.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Seconds returns a duration the way a user thinks of it.
func Seconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// Limit returns a duration that somebody has set.
func Limit(d time.Duration) string {
	switch {
	case d%time.Second == 0 && d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d%time.Millisecond == 0 && d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	}
	return d.String()
}

// most is how many parts of a list of numbers are named.
const most = 8

// Numbers returns sorted numbers in few words: "1", "1 and 2", "1, 3-7 and 9". Beyond a few parts it says
// "and others".
func Numbers[N ~int | ~int32](list []N) string {
	var parts []string
	for i := 0; i < len(list); {
		if len(parts) == most {
			parts = append(parts, "others")
			break
		}
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		switch {
		case j > i+1:
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		default:
			j = i
			parts = append(parts, fmt.Sprint(list[i]))
		}
		i = j + 1
	}
	return List(parts)
}

// List joins parts: "a", "a and b", "a, b and c".
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Named returns sorted numbers behind the form of a word that they need: "rank 3", "ranks 0, 2 and 5-7".
func Named[N ~int | ~int32](list []N, one, many string) string {
	return Plural(len(list), one, many) + " " + Numbers(list)
}

// Missing returns a text about n of some others that are missing: "ranks 1 and 2 (2 of 9 are missing)".
func Missing(text string, n, of int) string {
	return fmt.Sprintf("%s (%d of %d %s missing)", text, n, of, Plural(n, "is", "are"))
}
