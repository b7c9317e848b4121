package dnn

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// ParseWay reads "auto", "ring", "ringx4" or "autox4": an algorithm of the
// allreduce, and into how many segments that are under way together it cuts a vector.
func ParseWay(text string) (Variant, error) {
	w := Variant{Algorithm: text}
	if i := strings.LastIndexByte(text, 'x'); i > 0 {
		if n, err := strconv.Atoi(text[i+1:]); err == nil {
			if n < 1 {
				return Variant{}, fmt.Errorf("%q cuts into %d segments; expected at least 1", text, n)
			}
			w = Variant{Algorithm: text[:i], Segments: n}
		}
	}
	if w.Algorithm == "auto" {
		w.Algorithm = ""
		return w, nil
	}
	_, err := algorithms.Lookup(schedule.AllReduce, w.Algorithm)
	return w, err
}

// options returns the options of the call.
func (w Variant) options() []collectives.Option {
	var all []collectives.Option
	segments := w.Segments
	if w.Algorithm != "" {
		all = append(all, collectives.Algorithm(w.Algorithm))
		segments = max(segments, 1)
	}
	if segments > 0 {
		all = append(all, collectives.Concurrency(segments))
	}
	return all
}
