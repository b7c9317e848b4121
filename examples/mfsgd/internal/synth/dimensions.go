package synth

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Dimensions say how large a set is.
type Dimensions struct {
	Users, Items int
	Ratings      int64
}

// MovieLens25M returns the shape of the MovieLens 25M data set.
func MovieLens25M() Dimensions { return Dimensions{Users: 162_541, Items: 59_047, Ratings: 25_000_095} }

// String writes a shape as ParseShape reads it.
func (s Dimensions) String() string { return fmt.Sprintf("%dx%dx%d", s.Users, s.Items, s.Ratings) }

// ParseShape reads "USERSxITEMSxRATINGS", "ml-25m", or "ml-25m/N": an N-th of
// the ratings, given by an N-th of the users on the square root of an N-th of
// the items, which keeps the number of ratings per user and thins the matrix's
// rows less than its columns.
func ParseShape(text string) (Dimensions, error) {
	if rest, ok := strings.CutPrefix(text, "ml-25m"); ok {
		return parseFraction(text, rest)
	}
	fields := strings.Split(text, "x")
	if len(fields) != 3 {
		return Dimensions{}, fmt.Errorf("%q is no shape; expected USERSxITEMSxRATINGS, ml-25m, or ml-25m/N", text)
	}
	var n [3]int64
	for i, name := range []string{"users", "items", "ratings"} {
		v, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil || v < 1 {
			return Dimensions{}, fmt.Errorf("%q in %q is no number of %s; expected a whole number of 1 or more", fields[i], text, name)
		}
		n[i] = v
	}
	if n[0] > math.MaxInt32 || n[1] > math.MaxInt32 {
		return Dimensions{}, fmt.Errorf("%q is too large; expected at most %d users and items", text, math.MaxInt32)
	}
	s := Dimensions{Users: int(n[0]), Items: int(n[1]), Ratings: n[2]}
	return s, s.check()
}

// parseFraction reads what follows "ml-25m".
func parseFraction(text, rest string) (Dimensions, error) {
	full := MovieLens25M()
	if rest == "" {
		return full, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "/"))
	if rest[0] != '/' || err != nil || n < 1 || n > full.Users {
		return Dimensions{}, fmt.Errorf("%q is no scale; expected ml-25m or ml-25m/N with N from 1 to %d", text, full.Users)
	}
	s := Dimensions{
		Users:   max(full.Users/n, 1),
		Items:   int(float64(full.Items) / math.Sqrt(float64(n))),
		Ratings: full.Ratings / int64(n),
	}
	return s, s.check()
}

// check reports whether every user can rate something, and no item twice.
func (s Dimensions) check() error {
	if s.Ratings < int64(s.Users) {
		return fmt.Errorf("%v has fewer ratings than users; expected at least one for each", s)
	}
	if cells := int64(s.Users) * int64(s.Items); s.Ratings > cells {
		return fmt.Errorf("%v has more ratings than the %d pairs of a user and an item; expected each pair once at most", s, cells)
	}
	return nil
}
