// Package tracefile reads files of the trace event format that gaspi-run --trace writes, as strictly as
// no viewer does. Tests call it.
package tracefile

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
)

// A Census counts what is in a file of the trace event format.
type Census struct {
	Processes  int // that have a name
	Slices     int // complete events
	Arrows     int
	Operations int // asynchronous events
}

// Check reads a file of the trace event format as strictly as no viewer does, and counts what is in
// it: each process has a name, slices of a thread are inside of each other or apart, arrows
// begin and end in slices and do not go back, operations end after they begin, and nothing is there
// that gaspi-run does not write.
func Check(from io.Reader) (Census, error) {
	c, err := read(from)
	if err != nil {
		return Census{}, err
	}
	return c.census, c.end()
}

// An End is where an arrow begins or ends: the innermost slice there.
type End struct {
	Process int
	Name    string
	Args    map[string]any
}

// Arrows returns the arrows of a file that Check accepts, by where they begin and end.
func Arrows(from io.Reader) (all [][2]End, err error) {
	c, err := read(from)
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return nil, err
	}
	for _, pair := range c.arrows {
		var ends [2]End
		for i, e := range pair {
			in := c.around(e)
			ends[i] = End{*in.Pid, in.Name, in.Args}
		}
		all = append(all, ends)
	}
	return all, nil
}

// read takes all events of a file.
func read(from io.Reader) (*checker, error) {
	var file struct {
		DisplayTimeUnit string
		OtherData       map[string]any
		TraceEvents     []element
	}
	d := json.NewDecoder(from)
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	c := &checker{names: map[thread]string{}, slices: map[thread][]element{}, open: map[string]element{}}
	for i, e := range file.TraceEvents {
		if err := c.take(e); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	return c, nil
}

// An element is an event of the file.
type element struct {
	Ph, Name, Cat string
	Pid, Tid      *int
	Ts, Dur       *float64 // microseconds
	ID            any
	Bp            string
	Args          map[string]any
}

// A thread is one of a process, or with the number 0 the process.
type thread struct{ pid, tid int }

// nanos is a time in nanoseconds, which the file has in thousandths.
func nanos(us float64) int64 { return int64(math.Round(us * 1000)) }

type checker struct {
	census Census
	names  map[thread]string
	slices map[thread][]element
	arrows [][2]element
	open   map[string]element // arrows and operations
}

func (c *checker) take(e element) error {
	if e.Pid == nil || e.Tid == nil || e.Name == "" {
		return fmt.Errorf("%+v: without process, thread or name", e)
	}
	at := thread{*e.Pid, *e.Tid}
	if e.Ph != "M" && (e.Ts == nil || *e.Ts < 0 || math.Abs(*e.Ts*1000-math.Round(*e.Ts*1000)) > 0.01) {
		return fmt.Errorf("%+v: without a time in whole nanoseconds from 0 on", e)
	}
	key := fmt.Sprint(e.Cat, e.ID)
	switch e.Ph {
	case "M":
		if name, ok := e.Args["name"].(string); ok && name != "" {
			c.names[at] = name
		}
		if e.Name == "process_name" {
			c.census.Processes++
		}
	case "X":
		if e.Dur == nil || *e.Dur < 0 {
			return fmt.Errorf("%+v: without a duration from 0 on", e)
		}
		c.slices[at] = append(c.slices[at], e)
		c.census.Slices++
	case "s", "b":
		if _, twice := c.open[key]; twice || e.ID == nil {
			return fmt.Errorf("%+v: begins twice, or has no id", e)
		}
		c.open[key] = e
	case "f", "e":
		begin, ok := c.open[key]
		if !ok || *begin.Ts > *e.Ts || e.Ph == "f" && (begin.Ph != "s" || e.Bp != "e") || e.Ph == "e" && begin.Ph != "b" {
			return fmt.Errorf("%+v: ends what did not begin before", e)
		}
		delete(c.open, key)
		if e.Ph == "e" {
			c.census.Operations++
			return nil
		}
		c.arrows = append(c.arrows, [2]element{begin, e})
		c.census.Arrows++
	default:
		return fmt.Errorf("%+v: of an unknown phase", e)
	}
	return nil
}

// end checks what takes all events.
func (c *checker) end() error {
	if len(c.open) > 0 {
		return fmt.Errorf("%d arrows or operations do not end", len(c.open))
	}
	for at, all := range c.slices {
		if c.names[thread{at.pid, 0}] == "" {
			return fmt.Errorf("process %d has no name", at.pid)
		}
		slices.SortStableFunc(all, func(a, b element) int {
			if x := nanos(*a.Ts) - nanos(*b.Ts); x != 0 {
				return int(max(-1, min(1, x)))
			}
			return int(max(-1, min(1, nanos(*b.Dur)-nanos(*a.Dur))))
		})
		var ends []int64
		for _, e := range all {
			begin, end := nanos(*e.Ts), nanos(*e.Ts)+nanos(*e.Dur)
			for len(ends) > 0 && ends[len(ends)-1] <= begin {
				ends = ends[:len(ends)-1]
			}
			if n := len(ends); n > 0 && ends[n-1] < end {
				return fmt.Errorf("%+v: ends after the slice that it begins in", e)
			}
			ends = append(ends, end)
		}
	}
	for _, pair := range c.arrows {
		for _, e := range pair {
			if c.around(e) == nil {
				return fmt.Errorf("%+v: an arrow that is in no slice", e)
			}
		}
	}
	return nil
}

// around returns the innermost slice of a thread that an arrow's end is in, nil if there is none.
func (c *checker) around(e element) *element {
	all := c.slices[thread{*e.Pid, *e.Tid}]
	i := sort.Search(len(all), func(i int) bool { return nanos(*all[i].Ts) > nanos(*e.Ts) })
	for i--; i >= 0; i-- {
		if nanos(*all[i].Ts)+nanos(*all[i].Dur) > nanos(*e.Ts) {
			return &all[i]
		}
	}
	return nil
}
