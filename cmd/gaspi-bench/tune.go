package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const (
	// envTune tells ranks which part of tune they are, envMachine, in which
	// package collectives looks too, where the parameters are.
	envTune    = "GASPI_BENCH_TUNE"
	envMachine = "GASPI_MACHINE"

	tunePair  = "pair"  // two ranks with a core each measure all but Switch
	tuneCrowd = "crowd" // twice as many ranks as cores measure that
	tuneCheck = "check" // the model is compared with what calls take
)

// tune is no operation like the others: it starts several jobs.
func tune() operation {
	return operation{
		name: "tune",
		about: `the parameters by which package collectives chooses algorithms, for a
file that the environment variable GASPI_MACHINE names (--out), and how well the
model then foretells what an allreduce takes. What concerns networks and coding is
not measured and stays as it is. Needs two cores. Limit: none; the model stands
beside what was measured.`,
		minRanks: 2,
		sizes:    []uint64{8, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20},
		tune:     true,
	}
}

// checkTune finds flags that mean nothing to tune.
func (o *options) checkTune(changed func(string) bool) error {
	if !o.op.tune {
		if changed("out") {
			return fmt.Errorf("--out: only tune writes a file of parameters; drop the flag")
		}
		return nil
	}
	for _, name := range []string{"n", "transport", "bind", "json"} {
		if changed(name) {
			dash := "--"
			if name == "n" {
				dash = "-"
			}
			return fmt.Errorf("%s%s: tune chooses its ranks, and its file is named by --out; drop the flag", dash, name)
		}
	}
	if changed("out") && o.out == "" {
		return errors.New("--out needs the name of a file; found an empty one")
	}
	return nil
}

// runTune is the part of tune that starts the ranks.
func runTune(ctx context.Context, o *options, stdout, stderr *os.File) int {
	fail := func(err error) int {
		say(stderr, err)
		return exitFailed
	}
	cores, err := sys.ThreadCores()
	if err != nil {
		return fail(err)
	}
	if len(cores) < 2 {
		return fail(errors.New("tune needs two cores: what a message takes between ranks that share one says nothing"))
	}
	if err := report.TryOpen("--out", o.out); err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "gaspi-bench-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "machine.json")
	for _, part := range []struct {
		name  string
		ranks int
	}{{tunePair, 2}, {tuneCrowd, 2 * len(cores)}, {tuneCheck, 2}, {tuneCheck, 2 * len(cores)}} {
		with := *o
		with.ranks = part.ranks
		cfg, err := with.job(stdout, stderr)
		if err != nil {
			return fail(err)
		}
		cfg.Env = append(cfg.Env, envTune+"="+part.name)
		if part.name == tunePair { // whose ranks make the file
			cfg.Env = append(cfg.Env, envTuneFile+"="+file, envMachine+"=")
		} else {
			cfg.Env = append(cfg.Env, envTuneFile+"="+file, envMachine+"="+file)
		}
		result, err := launcher.Run(ctx, cfg)
		if err != nil {
			return fail(err)
		}
		if result.ExitCode != 0 {
			return result.ExitCode
		}
	}
	if o.out == "" {
		return 0
	}
	if err := copyFile(o.out, file); err != nil {
		return fail(err)
	}
	return 0
}

// envTuneFile is where ranks put the parameters.
const envTuneFile = "GASPI_BENCH_TUNE_FILE"

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		return report.Unwritable("--out", to, err)
	}
	return nil
}

// tuneRank is the part of tune that a rank does.
func (b *bench) tuneRank(ctx context.Context, cores int) error {
	file := os.Getenv(envTuneFile)
	m := collectives.DefaultMachine()
	m.Cores = cores
	var err error
	switch os.Getenv(envTune) {
	case tunePair:
		if err = b.tunePair(ctx, &m); err != nil {
			return err
		}
		return b.writeMachine(file, &m)
	case tuneCrowd:
		if err := readMachine(file, &m); err != nil {
			return err
		}
		if m.Switch, err = b.tuneSwitch(ctx, &m); err != nil {
			return err
		}
		if err := b.writeMachine(file, &m); err != nil {
			return err
		}
		return b.out.PrintHeaded(machineLines(&m))
	case tuneCheck:
		return b.checkModel(ctx)
	}
	return errors.New("tune starts its own ranks; run it without gaspi-run")
}

// writeMachine leaves the parameters for the next job. Others must not read while
// rank 0 writes.
func (b *bench) writeMachine(file string, m *price.Machine) error {
	if b.p.Rank() != 0 {
		return nil
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}

func readMachine(file string, m *price.Machine) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, m)
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
