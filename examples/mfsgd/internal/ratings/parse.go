package ratings

import (
	"bytes"
	"fmt"
	"strings"
)

// header is the first line of MovieLens's ratings.csv.
const header = "userId,movieId,rating,timestamp"

// wanted says which first lines are known.
const wanted = "the header \"" + header + "\" of a ratings.csv, or a rating with \"::\" (ratings.dat) or tabs (u.data) between its fields"

// A form is how the lines of a ratings file are written. All have the same four fields.
type form struct {
	separator string // one or two characters
	headed    bool   // the first line is the header
}

// formOf tells the form by the first line.
func formOf(line []byte) (f form, ok bool) {
	switch {
	case string(line) == header: // MovieLens Latest, 20M, 25M and 32M
		return form{",", true}, true
	case bytes.Contains(line, []byte("::")): // 1M and 10M
		return form{"::", false}, true
	case bytes.IndexByte(line, '\t') >= 0: // 100K
		return form{"\t", false}, true
	}
	return form{}, false
}

// A record is one parsed line.
type record struct {
	user, item uint64
	half       uint8 // rating in half stars
}

// parse reads user, item, rating and timestamp. An empty problem means that the
// line is good.
func (f form) parse(line []byte) (rec record, problem string) {
	var ok bool
	rest := line
	if rec.user, rest, ok = f.leadingID(rest); !ok {
		return rec, f.explain(line)
	}
	if rec.item, rest, ok = f.leadingID(rest); !ok {
		return rec, f.explain(line)
	}
	if rec.half, rest, ok = f.leadingRating(rest); !ok {
		return rec, f.explain(line)
	}
	if !isNumber(rest) {
		return rec, f.explain(line)
	}
	return rec, ""
}

// leadingID reads an unsigned number that ends at a separator and returns what
// follows that.
func (f form) leadingID(b []byte) (id uint64, rest []byte, ok bool) {
	for i, c := range b {
		if c == f.separator[0] {
			rest, ok := bytes.CutPrefix(b[i:], []byte(f.separator))
			return id, rest, ok && i > 0
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

// leadingRating reads a number of stars that ends at a separator: a digit, and
// possibly a point followed by digits that spell 0 or one half.
func (f form) leadingRating(b []byte) (half uint8, rest []byte, ok bool) {
	end := bytes.Index(b, []byte(f.separator))
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
	return half, b[end+len(f.separator):], half >= 1 && half <= MaxHalves
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
func (f form) explain(line []byte) string {
	if f.headed && string(line) == header {
		return "a second header; expected one at the top of the file only"
	}
	fields := bytes.Split(line, []byte(f.separator))
	if len(fields) != 4 {
		names := strings.ReplaceAll(header, ",", strings.ReplaceAll(f.separator, "\t", " tab "))
		return fmt.Sprintf("expected 4 fields (%s), found %d", names, len(fields))
	}
	for i, name := range []string{"userId", "movieId"} {
		if !isNumber(fields[i]) {
			return fmt.Sprintf("%s %q is not a whole number of 0 or more", name, fields[i])
		}
		if _, _, ok := f.leadingID(append(bytes.Clone(fields[i]), f.separator...)); !ok {
			return fmt.Sprintf("%s %q does not fit into 64 bits", name, fields[i])
		}
	}
	if _, _, ok := f.leadingRating(append(bytes.Clone(fields[2]), f.separator...)); !ok {
		return fmt.Sprintf("rating %q is not on the scale; expected 0.5 to 5.0 in steps of 0.5", fields[2])
	}
	return fmt.Sprintf("timestamp %q is not a whole number of seconds", fields[3])
}
