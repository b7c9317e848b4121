package rankrun

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/spf13/pflag"
)

// ElementSize is the number of bytes of a float32, which vectors have.
const ElementSize = 4

// Elements is how many float32 take so many bytes.
func Elements(bytes int64) int { return int((bytes + ElementSize - 1) / ElementSize) }

// Options are what the command lines of all these programs ask for.
type Options struct {
	// Way is how vectors travel.
	Way exchange.Way
	// First is how many contributions rank 0 takes at a time; 0 for half of the workers.
	First int
	// Workers is how many, beside rank 0, this process starts; 0 for the ranks of gaspi-run.
	Workers int
	// Seed is what all that is random follows from.
	Seed uint64
	// Chunk is how many bytes package hoplite passes on at a time; 0 means its default.
	Chunk int64
	// Emulate is a network; see gaspi.Config.Emulate.
	Emulate string
	// JSON is the file for all figures; "" for none.
	JSON string
	// Help says that the help was asked for.
	Help bool
}

// Words are what the help of a program says.
type Words struct {
	// Server, Worker and Workers are such as trainer, actor and actors.
	Server, Worker, Workers string
	// Seed is what follows from the seed, and First what --first is the number of.
	Seed, First string
}

// Bind adds the flags that all these programs have.
func (o *Options) Bind(f *pflag.FlagSet, w Words) {
	f.Var(program.Whole(&o.First, "N", 0, 1, 1<<20), "first", fmt.Sprintf("%s; without it, half of the %s, rounded down", w.First, w.Workers))
	f.Var(naive(&o.Way), "naive", fmt.Sprintf("move each vector between the %s and one %s, as a baseline: turns, which is what --naive alone means, or eager, where all write at once", w.Server, w.Worker))
	f.Lookup("naive").NoOptDefVal = exchange.Turns.String()
	f.Var(program.Whole(&o.Workers, "N", 0, 1, 1023), "workers", fmt.Sprintf("run the %s and N %s as goroutines of one process, instead of as ranks of gaspi-run", w.Server, w.Workers))
	f.Uint64Var(&o.Seed, "seed", 1, fmt.Sprintf("`NUMBER` that %s follow from", w.Seed))
	f.Var(Bytes(&o.Chunk, "0", 0), "chunk", "what package hoplite passes on at a time; 0 means its default")
	f.Var(&program.Value{Kind: "NETWORK", Take: func(text string) error {
		o.Emulate = text
		_, err := emulation.Parse(text)
		return err
	}}, "emulate", "make each rank behave as if it were alone on a host behind a network card, such as latency=1ms,bandwidth=50MB/s")
	f.StringVar(&o.JSON, "json", "", "write all figures to `FILE`")
	f.BoolVarP(&o.Help, "help", "h", false, "show this help")
}

// Check says what is wrong with a command line whose flags are well formed, or nil.
func (o *Options) Check(f *pflag.FlagSet) error {
	if o.Chunk%64 != 0 {
		return fmt.Errorf("--chunk %d: expected a multiple of 64 bytes", o.Chunk)
	}
	return program.CheckRest(f, "json")
}

// Quorum is how many contributions rank 0 takes at a time from so many workers: half of
// them, as the scripts of the Hoplite paper's authors have it, 3 of 7 and 7 of 15. While
// those get new parameters, as many others contribute.
func (o *Options) Quorum(workers int) int {
	if o.First > 0 {
		return min(o.First, workers)
	}
	return max(1, workers/2)
}

// naive is the flag for how vectors travel: by objects, or, to compare with, without.
func naive(to *exchange.Way) *program.Value {
	ways := map[string]exchange.Way{exchange.Turns.String(): exchange.Turns, exchange.Eager.String(): exchange.Eager}
	return program.OneOf("WAY", exchange.Objects.String(), func(word string) { *to = ways[word] }, exchange.Turns.String(), exchange.Eager.String())
}
