// Package phrase writes counts and durations as parts of sentences for a user of the launcher.
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

// Numbers returns sorted numbers in few words: "1", "1 and 2", "1, 3-7 and 9".
func Numbers[N ~int | ~int32](list []N) string {
	var parts []string
	for i := 0; i < len(list); {
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
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
