package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun/programtest"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	with := func(change func(*options)) options {
		o := options{Options: rankrun.Options{Seed: 1}, bytes: 1 << 20, iterations: 50, batch: 16}
		change(&o)
		return o
	}
	for _, c := range []struct {
		args string
		want options
	}{
		{"", with(func(*options) {})},
		{"--params 4MB --iterations 7", with(func(o *options) { o.bytes, o.iterations = 4e6, 7 })},
		{"--params 1.5KiB", with(func(o *options) { o.bytes = 1536 })},
		{"--mode async --first 3", with(func(o *options) { o.async, o.First = true, 3 })},
		{"--naive", with(func(o *options) { o.Way = exchange.Turns })},
		{"--naive=eager --work 3ms", with(func(o *options) { o.Way, o.work = exchange.Eager, 3*time.Millisecond })},
		{"--workers 3 --chunk 64KiB --verify", with(func(o *options) { o.Workers, o.Chunk, o.verify = 3, 64<<10, true })},
		{"--emulate latency=1ms --json a", with(func(o *options) { o.Emulate, o.JSON = "latency=1ms", "a" })},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := parse(strings.Fields(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(options{})); d != "" {
				t.Errorf("options (-want +got):\n%s", d)
			}
		})
	}
}

func TestParams(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  int
	}{{840, 210}, {841, 211}, {843, 211}, {844, 211}, {4 << 30, 1 << 30}} {
		o := options{bytes: c.bytes}
		if got := o.params(); got != c.want {
			t.Errorf("%d bytes are %d parameters, want %d", c.bytes, got, c.want)
		}
	}
}

// refused are command lines and what is said of them.
func refused() []programtest.Refusal {
	return []programtest.Refusal{
		{"--params 839", `invalid argument "839" for "--params" flag: expected a number of bytes such as 4MiB, at least 840`},
		{"--params -1MiB", `invalid argument "-1MiB" for "--params" flag: expected a number of bytes such as 4MiB, at least 840`},
		{"--params many", `invalid argument "many" for "--params" flag: expected a number of bytes such as 4MiB, at least 840`},
		{"--iterations 0", `invalid argument "0" for "--iterations" flag: expected a whole number from 1 to 1000000`},
		{"--mode fast", `invalid argument "fast" for "--mode" flag: expected sync or async`},
		{"--first 2", `--first is for --mode async; a step of --mode sync takes the gradients of all workers`},
		{"--mode async --first 0", `invalid argument "0" for "--first" flag: expected a whole number from 1 to 1048576`},
		{"--naive=quick", `invalid argument "quick" for "--naive" flag: expected turns or eager`},
		{"--work -1s", `--work -1s: expected a time of 0 or more`},
		{"--chunk 100", `--chunk 100: expected a multiple of 64 bytes`},
		{"--emulate fast", `invalid argument "fast" for "--emulate" flag: `},
		{"--json=", `--json needs the name of a file; found an empty one`},
		{"sync", `unexpected argument "sync"; everything is said with flags`},
		{"--frobnicate", `unknown flag: --frobnicate`},
	}
}

func TestParseRefuses(t *testing.T) {
	programtest.ParseRefuses(t, func(args []string) error { _, err := parse(args); return err }, refused())
}

// TestQuorum is how many gradients a step takes.
func TestQuorum(t *testing.T) {
	first := func(n int) options { return options{Options: rankrun.Options{First: n}, async: true} }
	for _, c := range []struct {
		o             options
		workers, want int
	}{
		{options{}, 7, 7}, {first(0), 7, 3}, {first(0), 15, 7}, {first(0), 1, 1}, {first(0), 2, 1},
		{first(3), 7, 3}, {first(3), 2, 2},
	} {
		if got := c.o.quorum(c.workers); got != c.want {
			t.Errorf("%+v of %d workers is %d, want %d", c.o, c.workers, got, c.want)
		}
	}
}
