package dnn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Config says what to replay. Zero values mean the defaults; Check fills them in.
type Config struct {
	Model string // see Named
	// Batch is the samples per rank and step; 0 means 32. The larger it is, the
	// smaller is the part of communication.
	Batch int
	// Rate is the floating-point operations per second of a rank; 0 means 10^12.
	Rate float64
	// Scale multiplies the time of computing; 0 means 1. Close to 0, communication is
	// all there is.
	Scale float64
	// Spin computes on the processor instead of sleeping.
	Spin bool
	// Fuse are the bytes up to which gradients go together, each measured; 0 is
	// one message per gradient. Nil means 0 and 64 MiB, Horovod's.
	Fuse []int
	// Modes are measured each; nil means all that communicate.
	Modes []Mode
	// Ways are algorithms of the allreduce, each measured; nil means the library's
	// choice.
	Ways []Variant
	// Repetitions is the steps of each; 0 means 5. The median counts.
	Repetitions int
}

// The defaults of a Config.
const (
	defaultBatch       = 32
	defaultRate        = 1e12
	defaultRepetitions = 5
	horovodFuse        = 64 << 20
)

// A Variant is an algorithm of the allreduce and how it is pipelined.
type Variant struct {
	Algorithm string // empty: what the library chooses
	Segments  int    // under way together; 0: what the library chooses, or 1 if Algorithm is set
}

// String is the way as ParseWay takes it: "auto", "ring", "ringx4".
func (w Variant) String() string {
	name := cmp.Or(w.Algorithm, "auto")
	if w.Segments > 0 {
		name += fmt.Sprintf("x%d", w.Segments)
	}
	return name
}

// Check fills in what is left out and finds what makes no sense, in one sentence.
func (c *Config) Check() error {
	if _, err := Named(c.Model); err != nil {
		return err
	}
	c.Batch, c.Rate, c.Scale = cmp.Or(c.Batch, defaultBatch), cmp.Or(c.Rate, defaultRate), cmp.Or(c.Scale, 1)
	c.Repetitions = cmp.Or(c.Repetitions, defaultRepetitions)
	if c.Fuse == nil {
		c.Fuse = []int{0, horovodFuse}
	}
	if c.Modes == nil {
		c.Modes = Modes()
	}
	if c.Ways == nil {
		c.Ways = []Variant{{}}
	}
	return c.inRange()
}

func (c *Config) inRange() error {
	switch {
	case c.Batch < 1 || c.Batch > 1<<20:
		return fmt.Errorf("a batch of %d samples; expected 1 to %d", c.Batch, 1<<20)
	case !(c.Rate >= 1e6 && c.Rate <= 1e18):
		return fmt.Errorf("%g operations per second; expected 1e6 to 1e18", c.Rate)
	case !(c.Scale > 0 && c.Scale <= 1e6):
		return fmt.Errorf("computing times multiplied by %g; expected a number above 0, at most 1e6", c.Scale)
	case c.Repetitions < 1:
		return fmt.Errorf("%d repetitions; expected at least 1", c.Repetitions)
	}
	for _, f := range c.Fuse {
		if f < 0 {
			return fmt.Errorf("messages of up to %d bytes; expected 0 or more", f)
		}
	}
	for _, m := range c.Modes {
		if !slices.Contains(Modes(), m) {
			return fmt.Errorf("there is no mode %q; expected one of %s", m, modeNames())
		}
	}
	return nil
}

func modeNames() string {
	var names []string
	for _, m := range Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// trace is the step of the model with messages of up to fuse bytes.
func (c *Config) trace(m *NeuralNetwork, fuse int) *Trace {
	return NewTrace(m, c.Batch, c.Rate/c.Scale, fuse)
}
