package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/collectives/algorithms"
)

// objectOptions are what the command line says about operations with objects.
type objectOptions struct {
	// arrive says that ranks join one after the other, interval apart, and put what they
	// have when they do.
	arrive   bool
	interval time.Duration
	static   []string // algorithms of package collectives to measure too
	chunk    uint64   // bytes; 0 for the store's default
	window   int      // chunks; 0 for the default
	inline   uint64   // bytes; 0 for the default

	chunkText, inlineText string
}

func (c *objectOptions) add(f *pflag.FlagSet) {
	f.DurationVar(&c.interval, "interval", 0, "objects: ranks join one after the other, this `DURATION` apart, and\nput what they have when they do; times begin when the last does")
	f.StringSliceVar(&c.static, "static", nil, "objects: also measure the operation of package collectives, as a\nrow for each algorithm of a `LIST`, in whole vectors")
	f.StringVar(&c.chunkText, "chunk", "", "objects: the store moves them in pieces of `BYTES` (default 256KiB)")
	f.IntVar(&c.window, "window", 0, "objects: `PIECES` of a transfer that are under way (default 2)")
	f.StringVar(&c.inlineText, "inline", "", "objects of at most `BYTES` are kept in the directory (default 64KiB)")
}

// objectFlagNames are the flags that only objects have.
func objectFlagNames() []string { return []string{"interval", "static", "chunk", "window", "inline"} }

// chooseObject checks the flags of operations with objects.
func (o *options) chooseObject(f *pflag.FlagSet) error {
	c, kind := &o.object, o.op.object
	for _, name := range objectFlagNames() {
		if kind == noObject && f.Changed(name) {
			return fmt.Errorf("--%s: %s has nothing to do with objects; drop the flag", name, o.op.name)
		}
	}
	c.arrive = f.Changed("interval")
	switch {
	case c.arrive && kind == objectRoundTrip:
		return fmt.Errorf("--interval: %s is between two ranks; drop the flag", o.op.name)
	case c.interval < 0:
		return fmt.Errorf("--interval %v: expected 0 or more", c.interval)
	case f.Changed("window") && c.window < 1:
		return fmt.Errorf("--window %d: expected at least 1", c.window)
	}
	for _, size := range []struct {
		flag, text string
		to         *uint64
	}{{"chunk", c.chunkText, &c.chunk}, {"inline", c.inlineText, &c.inline}} {
		if !f.Changed(size.flag) {
			continue
		}
		var err error
		if *size.to, err = bytesize.Parse(size.text); err != nil {
			return fmt.Errorf("--%s: %w", size.flag, err)
		}
	}
	if c.chunk%64 != 0 {
		return fmt.Errorf("--chunk %s: expected a multiple of 64 bytes", c.chunkText)
	}
	what, ok := kind.collective()
	for _, name := range c.static {
		if !ok {
			return fmt.Errorf("--static %s: no collective operation does what %s does; drop the flag", name, o.op.name)
		}
		if _, err := algorithms.Lookup(what, name); err != nil && name != algorithmAuto {
			return fmt.Errorf("--static: %w; or auto", err)
		}
	}
	return nil
}
