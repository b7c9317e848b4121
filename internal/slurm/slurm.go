// Package slurm reads the lists of nodes and counts that Slurm writes.
package slurm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// most bounds the nodes of a list, and each count.
const most = 1 << 16

// Counts returns what "4,2,1(x2)" says of at most n nodes: 4, 2, 1 and 1.
func Counts(text string, n int) ([]int, error) {
	var counts []int
	for item := range strings.SplitSeq(text, ",") {
		number, times, repeated := strings.Cut(item, "(x")
		count, err := strconv.Atoi(number)
		repeat := 1
		if repeated && err == nil {
			closed := strings.HasSuffix(times, ")")
			repeat, err = strconv.Atoi(strings.TrimSuffix(times, ")"))
			if !closed {
				err = errors.New("no closing parenthesis")
			}
		}
		if err != nil || count < 1 || count > most || repeat < 1 {
			return nil, fmt.Errorf("%q: expected a count such as 4 or 4(x2)", item)
		}
		if repeat > n-len(counts) {
			return nil, fmt.Errorf("counts for more than the %d nodes of the allocation", n)
		}
		for range repeat {
			counts = append(counts, count)
		}
	}
	return counts, nil
}

// Nodes returns the names in "x01,h[1-3,7]": x01, h1, h2, h3 and h7. A name may have
// several brackets; numbers keep their leading zeros.
func Nodes(list string) ([]string, error) {
	var names []string
	for list != "" {
		item := list[:endOfItem(list)]
		list = strings.TrimPrefix(list[len(item):], ",")
		more, err := expandItem(item, most-len(names))
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	if len(names) == 0 {
		return nil, errors.New("it names no node")
	}
	return names, nil
}

// endOfItem finds the comma after the first item, brackets minded.
func endOfItem(list string) int {
	depth := 0
	for i, c := range list {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth <= 0:
			return i
		}
	}
	return len(list)
}

// expandItem expands the brackets of one item into at most limit names.
func expandItem(item string, limit int) ([]string, error) {
	if item == "" {
		return nil, errors.New("a name is missing between two commas")
	}
	names := []string{""}
	for rest := item; rest != ""; {
		plain, tail, open := strings.Cut(rest, "[")
		for i := range names {
			names[i] += plain
		}
		if !open {
			break
		}
		inside, after, closed := strings.Cut(tail, "]")
		if !closed {
			return nil, fmt.Errorf("%q: a bracket is not closed", item)
		}
		numbers, err := expandRanges(inside, limit)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		if len(names)*len(numbers) > limit {
			return nil, fmt.Errorf("%q: more than %d nodes", item, most)
		}
		names, rest = combine(names, numbers), after
	}
	if len(names) > limit {
		return nil, fmt.Errorf("%q: more than %d nodes", item, most)
	}
	return names, nil
}

func combine(heads, tails []string) []string {
	out := make([]string, 0, len(heads)*len(tails))
	for _, head := range heads {
		for _, tail := range tails {
			out = append(out, head+tail)
		}
	}
	return out
}

// expandRanges reads "1-3,07": 1, 2, 3, 07, at most limit numbers.
func expandRanges(text string, limit int) ([]string, error) {
	var numbers []string
	for item := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		from, errFrom := parseNodeNumber(first)
		to, errTo := parseNodeNumber(last)
		if errFrom != nil || errTo != nil || from > to {
			return nil, fmt.Errorf("%q in brackets: expected numbers or ranges such as 1-3", item)
		}
		if to-from >= limit-len(numbers) {
			return nil, fmt.Errorf("%q in brackets: more than %d nodes", item, most)
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(first), n))
		}
	}
	return numbers, nil
}

func parseNodeNumber(s string) (int, error) {
	if len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, errors.New("not a number")
	}
	return strconv.Atoi(s)
}
