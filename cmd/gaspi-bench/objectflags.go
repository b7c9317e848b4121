package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/object"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// addObject adds the flags of operations with objects, which chooseObject checks.
func addObject(f *pflag.FlagSet, c *object.StoreOptions) {
	f.DurationVar(&c.Interval, "interval", 0, "objects: ranks join one after the other, this `DURATION` apart, and\nput what they have when they do; times begin when the last does")
	f.StringSliceVar(&c.Static, "static", nil, "objects: also measure the operation of package collectives, as a\nrow for each algorithm of a `LIST`, in whole vectors\nthat are written before each operation, as objects are put")
	f.String("chunk", "", "objects: the store moves them in pieces of `BYTES` (default 256KiB)")
	f.IntVar(&c.Window, "window", 0, "objects: `PIECES` of a transfer that are under way (default 2)")
	f.String("inline", "", "objects of at most `BYTES` are kept in the directory (default 64KiB)")
}

// objectFlagNames are the flags that only objects have.
func objectFlagNames() []string { return []string{"interval", "static", "chunk", "window", "inline"} }

// chooseObject checks the flags of operations with objects.
func (o *options) chooseObject(f *pflag.FlagSet) error {
	c, kind := &o.object, o.op.object
	for _, name := range objectFlagNames() {
		if kind == object.None && f.Changed(name) {
			return fmt.Errorf("--%s: %s has nothing to do with objects; drop the flag", name, o.op.Name)
		}
	}
	c.Arrive = f.Changed("interval")
	switch {
	case c.Arrive && !kind.Joins():
		return fmt.Errorf("--interval: %s is between two ranks; drop the flag", o.op.Name)
	case c.Interval < 0:
		return fmt.Errorf("--interval %v: expected 0 or more", c.Interval)
	case f.Changed("window") && c.Window < 1:
		return fmt.Errorf("--window %d: expected at least 1", c.Window)
	}
	if err := cmp.Or(readSize(f, "chunk", &c.Chunk), readSize(f, "inline", &c.Inline)); err != nil {
		return err
	}
	if c.Chunk%64 != 0 {
		return fmt.Errorf("--chunk %v: expected a multiple of 64 bytes", f.Lookup("chunk").Value)
	}
	what, ok := kind.Collective()
	for _, name := range c.Static {
		if !ok {
			return fmt.Errorf("--static %s: no collective operation does what %s does; drop the flag", name, o.op.Name)
		}
		if _, err := algorithms.Lookup(what, name); err != nil && name != collective.Auto {
			return fmt.Errorf("--static: %w; or auto", err)
		}
	}
	return nil
}
