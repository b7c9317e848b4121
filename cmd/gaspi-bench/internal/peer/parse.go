package peer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kinds of lines of the program; see mpibench.c.
const (
	lineOther = iota // a launcher's own
	lineStart
	lineUsed
	lineTimes
	lineDone
)

// A line is what the program printed.
type line struct {
	kind       int
	point      int
	operations int
	blocks     []time.Duration
	processors time.Duration
}

// parseLine reads a line. A line that is not the program's is of kind lineOther; a line that
// only begins like one of the program's is an error.
func parseLine(text string) (line, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return line{}, nil
	}
	switch words[0] {
	case "done":
		return line{kind: lineDone}, nil
	case "start":
		point, err := number(words, 1)
		return line{kind: lineStart, point: point}, err
	case "used":
		return parseUsed(words)
	case "times":
		return parseTimes(words)
	}
	return line{}, nil
}

func parseUsed(words []string) (line, error) {
	point, err := number(words, 1)
	if err != nil {
		return line{}, err
	}
	nanoseconds, err := number(words, 2)
	return line{kind: lineUsed, point: point, processors: time.Duration(nanoseconds)}, err
}

func parseTimes(words []string) (line, error) {
	l := line{kind: lineTimes}
	var err error
	if l.point, err = number(words, 1); err != nil {
		return l, err
	}
	if l.operations, err = number(words, 2); err != nil {
		return l, err
	}
	if l.operations < 1 || len(words) < 4 {
		return l, fmt.Errorf("the line %q has no times", strings.Join(words, " "))
	}
	for i := 3; i < len(words); i++ {
		nanoseconds, err := number(words, i)
		if err != nil {
			return l, err
		}
		l.blocks = append(l.blocks, time.Duration(nanoseconds))
	}
	return l, nil
}

// number reads the word at i.
func number(words []string, i int) (int, error) {
	if i >= len(words) {
		return 0, fmt.Errorf("the line %q ends too early", strings.Join(words, " "))
	}
	n, err := strconv.Atoi(words[i])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q in a line of the benchmark is no number", words[i])
	}
	return n, nil
}
