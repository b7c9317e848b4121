package performance

import (
	"fmt"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

// A table is a quantity. It has a row for each setup and operation.
type table struct {
	title    string
	unit     string   // of the first number of a cell, and what else readers must know
	ops      []string // of the rows of a setup; one that is empty if columns have operations of their own
	columns  []column
	setups   []setup
	commands []command // that measure the table, each in all setups
}

// A column has a cell of each row: a figure of the operation of the row, or of its own.
type column struct {
	head string
	cell func(m *Measured, at setup, op string) string
}

// A setup is the ranks of a row, and how they are connected.
type setup struct {
	ranks   int
	over    string // the transport
	emulate string // the network, if one is emulated
	bound   bool   // each rank of all sides runs on one core
	rounds  int    // of all sides at most; 0 if as many as asked for
}

// A command is an operation of gaspi-bench.
type command struct {
	name  string
	sizes []uint64 // nil for an operation that moves no data
	// beside returns which of the libraries are measured in turns with it; nil for none.
	beside func(libraries []string) []string
	flags  []string
	once   bool // it takes as long as it does
}

// tables are all tables, in their order.
func tables() []table {
	two, both := within(2), within(2, 4)
	latency := besideMPI("Latency", "microseconds, one way; delivery is until the receiver has read all", two, []uint64{8, 1 << 10, 64 << 10, 1 << 20, 8 << 20}, "latency", "delivery")
	latency.commands = latency.commands[:1] // it measures both
	return []table{
		latency,
		besideMPI("Writes in a row", "microseconds a write", two, []uint64{1 << 20, 16 << 20}, "bandwidth"),
		besideMPI("Barrier", "microseconds", both, nil, "barrier"),
		besideMPI(
			"Collectives", "microseconds; bytes of a vector, in an alltoall of a block", both,
			[]uint64{8, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 8 << 20}, "allreduce", "alltoall", "broadcast", "reduce",
		),
		besideMPI(
			"Collectives in blocks", "microseconds; bytes of all blocks", both,
			[]uint64{64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 8 << 20}, "allgather", "reducescatter",
		),
		manyRanks(), firstCalls(), overlaps(), objects(),
	}
}

// within are the setups of few ranks of this host.
func within(ranks ...int) []setup {
	var all []setup
	for _, n := range ranks {
		all = append(all, setup{ranks: n, over: "shm", bound: true}, setup{ranks: n, over: "tcp", bound: true})
	}
	return all
}

// besideMPI is a table of operations, whose columns are sizes.
func besideMPI(title, unit string, setups []setup, sizes []uint64, ops ...string) table {
	t := table{title: title, unit: unit, setups: setups, ops: ops}
	for _, op := range ops {
		t.commands = append(t.commands, command{name: op, sizes: sizes, beside: all})
	}
	if len(sizes) == 0 {
		t.columns = []column{{"time", func(m *Measured, at setup, op string) string { return m.of(op, at, 0).cell() }}}
	}
	for _, n := range sizes {
		t.columns = append(t.columns, column{sizeOf(n), func(m *Measured, at setup, op string) string { return m.of(op, at, n).cell() }})
	}
	return t
}

// manyRanks is how jobs of many ranks start, and what they call most.
func manyRanks() table {
	t := table{
		title: "Many ranks", ops: []string{""}, unit: "microseconds, medians of three rounds (256 ranks: of one), and Open MPI's time by ours",
		setups: []setup{{ranks: 32, over: "tcp", rounds: 3}, {ranks: 128, over: "shm", rounds: 3}, {ranks: 256, over: "shm", rounds: 1}},
		commands: []command{
			{name: "startup", beside: openMPI, once: true}, {name: "barrier", beside: openMPI},
			{name: "allreduce", sizes: []uint64{8, 128 << 10}, beside: openMPI},
		},
	}
	for _, c := range []struct {
		head, op string
		bytes    uint64
	}{
		{"start of a job", "started", 0}, {"first barrier", "first-barrier", 0}, {"barrier", "barrier", 0},
		{"allreduce of 8 B", "allreduce", 8}, {"128 KiB", "allreduce", 128 << 10},
	} {
		t.columns = append(t.columns, column{c.head, func(m *Measured, at setup, _ string) string { return m.of(c.op, at, c.bytes).withPeer() }})
	}
	return t
}

// firstCalls is what the first call of a shape takes, with all that is chosen and planned in it.
func firstCalls() table {
	t := table{
		title: "First calls", ops: []string{""}, unit: "microseconds of processor time of a rank, the mean of all ranks in one run; bytes of a vector, in an alltoall of all blocks",
		setups:   []setup{{ranks: 8, over: "shm"}, {ranks: 64, over: "shm"}, {ranks: 256, over: "shm"}, {ranks: 1024, over: "loopback"}},
		commands: []command{{name: "first-call", sizes: []uint64{8, 128 << 10}}},
	}
	for _, op := range []string{"allreduce", "alltoall", "broadcast"} {
		for _, n := range []uint64{8, 128 << 10} {
			t.columns = append(t.columns, column{op + " " + sizeOf(n), func(m *Measured, at setup, _ string) string {
				return show(m.processor("first-"+op, at, n))
			}})
		}
	}
	return t
}

// overlaps is which part of an operation is left to wait for, and what it costs those who compute.
func overlaps() table {
	const n = 4 << 20
	time := func(m *Measured, name string, at setup) float64 { return m.of("overlap-"+name, at, n).ours }
	return table{
		title: "Overlap", ops: []string{""}, unit: "microseconds of one run, an allreduce of 4 MiB alone; Wait after a pause of four times as long, as a part of that; computing as long " +
			"beside it, by the sum of computing and the processor time of a call",
		setups:   []setup{{ranks: 2, over: "shm"}, {ranks: 2, over: "tcp"}, {ranks: 2, over: "shm", emulate: "latency=2ms,bandwidth=200MB/s"}},
		commands: []command{{name: "overlap"}},
		columns: []column{
			{"alone", func(m *Measured, at setup, _ string) string { return show(time(m, "alone", at)) }},
			{"Wait", func(m *Measured, at setup, _ string) string {
				return percent(time(m, "wait", at) / time(m, "alone", at))
			}},
			{"beside computing", func(m *Measured, at setup, _ string) string {
				return show(time(m, "both", at) / (time(m, "compute", at) + m.processor("overlap-alone", at, n)))
			}},
		},
	}
}

// objects is how the store of objects stands beside the collective operations.
func objects() table {
	t := table{
		title: "Objects", unit: "microseconds of one run, and the time of the collective operation by ours",
		ops: []string{"object-allreduce", "object-broadcast"}, setups: []setup{{ranks: 4, over: "shm"}},
	}
	sizes := []uint64{1 << 20, 8 << 20, 64 << 20}
	for _, op := range t.ops {
		t.commands = append(t.commands, command{name: op, sizes: sizes, flags: []string{"--static", "auto"}})
	}
	for _, n := range sizes {
		t.columns = append(t.columns, column{sizeOf(n), func(m *Measured, at setup, op string) string { return m.of(op, at, n).withPeer() }})
	}
	return t
}

// all measures beside all libraries.
func all(libraries []string) []string { return libraries }

// openMPI measures beside Open MPI alone: ranks of MPICH that outnumber cores take milliseconds for a message.
func openMPI(libraries []string) []string {
	var some []string
	for _, l := range libraries {
		if strings.HasPrefix(l, "openmpi") {
			some = append(some, l)
		}
	}
	return some
}

// sizeOf writes bytes for the head of a column.
func sizeOf(n uint64) string {
	text := bytesize.Format(n)
	digits := strings.TrimRight(text, "BiKMGT")
	return fmt.Sprintf("%s %sB", digits, strings.TrimSuffix(text[len(digits):], "B"))
}
