package ratings

import (
	"bytes"
	"fmt"
)

// header is the first line of MovieLens's ratings.csv.
const header = "userId,movieId,rating,timestamp"

// A record is one parsed line.
type record struct {
	user, item uint64
	half       uint8 // rating in half stars
}

// parseLine reads "userId,movieId,rating,timestamp". An empty problem means
// that the line is good.
func parseLine(line []byte) (rec record, problem string) {
	var ok bool
	rest := line
	if rec.user, rest, ok = leadingID(rest); !ok {
		return rec, explain(line)
	}
	if rec.item, rest, ok = leadingID(rest); !ok {
		return rec, explain(line)
	}
	if rec.half, rest, ok = leadingRating(rest); !ok {
		return rec, explain(line)
	}
	if !isNumber(rest) {
		return rec, explain(line)
	}
	return rec, ""
}

// leadingID reads an unsigned number that ends at a comma and returns what
// follows the comma.
func leadingID(b []byte) (id uint64, rest []byte, ok bool) {
	for i, c := range b {
		if c == ',' {
			return id, b[i+1:], i > 0
		}
		d := uint64(c - '0')
		if d > 9 {
			return 0, nil, false
		}
		if i >= 19 && (i > 19 || id > (1<<64-1-d)/10) {
			return 0, nil, false
		}
		id = id*10 + d
	}
	return 0, nil, false
}

// leadingRating reads a number of stars that ends at a comma: a digit, and
// possibly a point followed by digits that spell 0 or one half.
func leadingRating(b []byte) (half uint8, rest []byte, ok bool) {
	end := bytes.IndexByte(b, ',')
	if end < 1 || b[0] < '0' || b[0] > '5' {
		return 0, nil, false
	}
	half = (b[0] - '0') * 2
	if end > 1 {
		if b[1] != '.' || end == 2 {
			return 0, nil, false
		}
		for i, c := range b[2:end] {
			switch {
			case c == '5' && i == 0:
				half++
			case c != '0':
				return 0, nil, false
			}
		}
	}
	return half, b[end+1:], half >= 1 && half <= MaxHalves
}

// isNumber reports whether b is a run of digits.
func isNumber(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// explain finds out what is wrong with a line that did not parse. It is called
// once per file at most and may be slow.
func explain(line []byte) string {
	if string(line) == header {
		return "a second header; expected one at the top of the file only"
	}
	fields := bytes.Split(line, []byte{','})
	if len(fields) != 4 {
		return fmt.Sprintf("expected 4 fields (%s), found %d", header, len(fields))
	}
	for i, name := range []string{"userId", "movieId"} {
		if !isNumber(fields[i]) {
			return fmt.Sprintf("%s %q is not a whole number of 0 or more", name, fields[i])
		}
		if _, _, ok := leadingID(append(bytes.Clone(fields[i]), ',')); !ok {
			return fmt.Sprintf("%s %q does not fit into 64 bits", name, fields[i])
		}
	}
	if _, _, ok := leadingRating(append(bytes.Clone(fields[2]), ',')); !ok {
		return fmt.Sprintf("rating %q is not on the scale; expected 0.5 to 5.0 in steps of 0.5", fields[2])
	}
	return fmt.Sprintf("timestamp %q is not a whole number of seconds", fields[3])
}
