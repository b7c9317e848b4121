package model

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/namedfile"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

const (
	// EnvPart tells ranks which part of tune they are.
	EnvPart = "GASPI_BENCH_TUNE"
	// EnvMachine tells where the parameters are, also to package collectives.
	EnvMachine = "GASPI_MACHINE"

	PartPair  = "pair"  // two ranks with a core each measure all but Switch
	PartCrowd = "crowd" // twice as many ranks as cores measure that
	PartCheck = "check" // the model is compared with what calls take
)

// TuneOperation is no operation like the others: it starts several jobs.
func TuneOperation() measure.Benchmark {
	return measure.Benchmark{
		Name: "tune",
		About: `the parameters by which package collectives chooses algorithms, for a
file that the environment variable GASPI_MACHINE names (--out), and how well the
model then foretells what an allreduce takes. What concerns networks and coding is
not measured and stays as it is. Needs two cores. Limit: none; the model stands
beside what was measured.`,
		MinRanks: 2,
		Sizes:    []uint64{8, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20},
	}
}

// EnvFile is where ranks put the parameters.
const EnvFile = "GASPI_BENCH_TUNE_FILE"

// Tune is the part of tune that a rank does.
func (b *Tuner) Tune(ctx context.Context, cores int) error {
	if err := b.part(ctx, cores); err != nil {
		return err
	}
	return b.P.Barrier(ctx, b.P.World())
}

func (b *Tuner) part(ctx context.Context, cores int) error {
	file := os.Getenv(EnvFile)
	m := collectives.DefaultMachine()
	m.Cores = cores
	var err error
	switch os.Getenv(EnvPart) {
	case PartPair:
		if err = b.tunePair(ctx, &m); err != nil {
			return err
		}
		return b.writeMachine(file, &m)
	case PartCrowd:
		if err := ReadMachine(EnvFile, file, &m); err != nil {
			return err
		}
		if m.Switch, err = b.tuneSwitch(ctx, &m); err != nil {
			return err
		}
		if err := b.writeMachine(file, &m); err != nil {
			return err
		}
		return b.Out.PrintHeaded(machineLines(&m))
	case PartCheck:
		return b.checkModel(ctx)
	}
	return fmt.Errorf("%s=%q is no part of tune; unset it", EnvPart, os.Getenv(EnvPart))
}

// writeMachine leaves the parameters for the next job. Others must not read while
// rank 0 writes.
func (b *Tuner) writeMachine(file string, m *price.Machine) error {
	if b.P.Rank() != 0 {
		return nil
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}

// maxMachine bounds a file of parameters, in bytes: tune writes fewer than 1000.
const maxMachine = 64 << 10

// ReadMachine reads into m the parameters in the file that a variable called named names.
func ReadMachine(named, file string, m *price.Machine) error {
	return namedfile.File{Named: named, Path: file, Expected: "a file that gaspi-bench tune has written", Most: maxMachine}.JSON(m)
}

// machineLines are the parameters.
func machineLines(m *price.Machine) []string {
	ns := func(seconds float64) string { return report.Number(seconds*1e9) + " ns" }
	rate := func(bytes float64) string { return report.Number(bytes/1e9) + " GB/s" }
	var lines []string
	for _, l := range [][3]string{
		{"call", ns(m.Call), "a run, before its first step"},
		{"await", ns(m.Await), "seeing a notification that is there"},
		{"step", ns(m.Step), "the shortest copy or fold"},
		{"shared.latency", ns(m.Shared.Latency), "until a peer can see a notification"},
		{"shared.put", ns(m.Shared.Put), "the sender's part of a short write"},
		{"shared.signal", ns(m.Shared.Signal), "the sender's part of a notification"},
		{"reduce_rate", rate(m.ReduceRate), "sums of float64, a peer's vector into one's own"},
		{"copy_rate", rate(m.CopyRate), "copies of a peer's vector"},
		{"memory", rate(m.Memory), "reads and writes of all ranks, beyond the caches"},
		{"core_memory", rate(m.CoreMemory), "those of one rank, beyond the caches"},
		{"cache", bytesize.Format(uint64(m.Cache)), "what vectors may have in all to be in the caches"},
		{"cores", strconv.Itoa(m.Cores), ""},
		{"switch", ns(m.Switch), "handing a core to another rank"},
	} {
		lines = append(lines, report.Trimmed(fmt.Sprintf("  %-15s %12s  %s", l[0], l[1], l[2])))
	}
	return lines
}
