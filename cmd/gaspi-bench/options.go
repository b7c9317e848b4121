package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/object"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/startup"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/spelling"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// options is what the command line says, checked.
type options struct {
	op        operation
	ranks     int
	ranksSet  bool // the command line said how many
	transport string
	emulate   string // network; empty for none
	bind      string
	sizes     []uint64     // {0} for an operation that moves no data
	forms     report.Forms // of the rows
	measured  measure.Rules
	out       string   // file for the parameters of tune; empty for none
	args      []string // the command line, for the ranks

	// simulate is what there is to do without ranks; nil where ranks measure.
	simulate func(o *options, stdout, stderr *os.File) error

	collective *collective.Spec // nil for an operation that is none of package collectives
	object     object.StoreOptions
	peers      peerFlags
}

// parse reads the command line. Its error is one sentence.
func parse(args []string) (*options, error) {
	if isDNN(args) {
		return parseDNN(args)
	}
	o := &options{args: args}
	sizes, group := "", &collectiveFlags{}
	f := Flags(o, &sizes, group)
	if err := f.Parse(args); err != nil {
		return nil, explain(err, f)
	}
	o.inherit(f)
	if err := o.chooseOperation(f.Args()); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.checkTune(f.Changed); err != nil {
		return nil, err
	}
	if err := o.chooseCollective(f, group); err != nil {
		return nil, err
	}
	if err := o.chooseObject(f); err != nil {
		return nil, err
	}
	if err := o.checkOutput(f); err != nil {
		return nil, err
	}
	if err := o.chooseSizes(sizes, f.Changed("sizes")); err != nil {
		return nil, err
	}
	o.bindOperation()
	return o, o.checkPeers(f)
}

func Flags(o *options, sizes *string, group *collectiveFlags) *pflag.FlagSet {
	f := pflag.NewFlagSet("gaspi-bench", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	o.addJob(f)
	f.StringVar(sizes, "sizes", "", "comma-separated `LIST` of bytes per operation, such as 8,1KiB\nor 64KiB:16MiB; a range means the powers of two in it")
	f.DurationVar(&o.measured.Time, "time", 400*time.Millisecond, "how long to measure for one row")
	f.StringVar(&o.out, "out", "", "write the parameters that tune finds to `FILE`")
	f.StringVar(&o.forms.JSON, "json", "", "also write one JSON object per row to `FILE`")
	f.BoolVar(&o.forms.OSU, "osu", false, "print the text format of the OSU micro-benchmarks")
	f.StringVar(&o.forms.Plot, "plot", "", "also draw the rows as an SVG `FILE`")
	group.add(f)
	addObject(f, &o.object)
	o.peers.add(f)
	f.BoolVar(&o.measured.Verify, "verify", false, "check the result of every operation, not only of the first and last;\neach then is a block of its own, which is rougher")
	f.StringVar(&o.measured.Side, "side", "", "measure `ROWS` of one impl alone: gaspi or limit; as --peer does,\nsince each finds in the caches what the other has left there")
	return f
}

// addJob adds the flags about the ranks and how they are started.
func (o *options) addJob(f *pflag.FlagSet) {
	f.IntVarP(&o.ranks, "n", "n", 2, "number of ranks")
	f.StringVar(&o.transport, "transport", "auto", "shm: ranks are processes that share memory;\ntcp: processes that do not; rdma: so too, through libfabric\n(see docs/RDMA.md); loopback: ranks are goroutines of one process;\nauto: what gaspi-run or GASPI_TRANSPORT says, else shm on one\nhost, and tcp")
	f.StringVar(&o.emulate, "emulate", "", "make each rank behave as if it were alone on a host behind a\nnetwork card of its own: `NETWORK` is such as\nlatency=100us,bandwidth=150MB/s (see docs/EMULATION.md)")
	f.StringVar(&o.bind, "bind", "auto", "core: each rank runs on one core; none: the system places\nthem; auto: core if there is one for each rank (shm only)")
}

// inherit takes note of what the command line left open. Of gaspi-run, and of whoever
// sets the variables of package gaspi, it takes the transport then.
func (o *options) inherit(f *pflag.FlagSet) {
	o.ranksSet = f.Changed("n")
	if name := os.Getenv(envTransport); name != "" && !f.Changed("transport") {
		o.transport = name
	}
}

func (o *options) chooseOperation(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no operation was given; choose one of %s", operationNames())
	}
	if len(args) > 1 {
		return fmt.Errorf("unexpected argument %q; one operation is measured at a time", args[1])
	}
	for _, op := range operations() {
		if op.Name == args[0] {
			o.op = op
			return nil
		}
	}
	return spelling.Unknown("unknown operation", args[0], commandNames())
}

func (o *options) check() error {
	switch {
	case o.ranks < o.op.MinRanks:
		return fmt.Errorf("-n %d: %s needs at least %d ranks", o.ranks, o.op.Name, o.op.MinRanks)
	case o.ranks > launcher.MaxRanks:
		return fmt.Errorf("-n %d: a job has at most %d ranks", o.ranks, launcher.MaxRanks)
	case !slices.Contains([]string{"auto", "shm", "tcp", "rdma", "loopback"}, o.transport):
		return fmt.Errorf("--transport %q: expected auto, shm, tcp, rdma or loopback", o.transport)
	case o.transport == "loopback" && os.Getenv(envRank) != "" && os.Getenv(envSize) != "1":
		return errors.New("--transport loopback: it connects ranks of one process, and this job has several processes; use auto, shm or tcp")
	case o.bind != "auto" && o.bind != "core" && o.bind != "none":
		return fmt.Errorf("--bind %q: expected auto, core or none", o.bind)
	case o.bind == "core" && o.transport == "loopback":
		return errors.New("--bind core: goroutines cannot be bound to cores; use --transport shm or tcp, or drop --bind")
	case o.emulate != "" && o.ranks < 2 && o.ranksSet:
		return errors.New("--emulate: a network needs at least 2 ranks; raise -n")
	case o.measured.Side != "" && o.measured.Side != report.ImplGaspi && o.measured.Side != report.ImplLimit:
		return fmt.Errorf("--side %q: expected %s or %s", o.measured.Side, report.ImplGaspi, report.ImplLimit)
	case o.op.start != nil && o.transport == "loopback":
		return errors.New("--transport loopback: startup measures the start of processes; use shm or tcp")
	case o.op.start != nil && os.Getenv(envRank) != "" && startup.Starts():
		return errors.New("startup starts the jobs that it measures; run it without gaspi-run")
	case o.measured.Time <= 0:
		return fmt.Errorf("--time %v: expected more than 0, such as 400ms or 5s", o.measured.Time)
	}
	if o.emulate != "" {
		if _, err := emulation.Parse(o.emulate); err != nil {
			return fmt.Errorf("--emulate: %w", err)
		}
	}
	return nil
}

func (o *options) checkOutput(f *pflag.FlagSet) error {
	if err := checkNames(f); err != nil {
		return err
	}
	if explains := o.collective != nil && o.collective.Explain; o.op.tune || explains {
		for _, name := range []string{"osu", "plot"} {
			if f.Changed(name) {
				return fmt.Errorf("--%s: there are no rows to show; drop the flag", name)
			}
		}
	}
	o.forms.Algorithms = o.collective != nil || len(o.object.Static) > 0
	o.forms.Apart = o.collective != nil && o.collective.Algorithm == collective.All
	for _, name := range flagsOfBatches {
		if o.op.calls && f.Changed(name) {
			return fmt.Errorf("--%s: %s has no rows beside a limit and times each call; drop the flag", name, o.op.Name)
		}
	}
	for _, name := range flagsOfRepeats {
		if o.op.start != nil && f.Changed(name) {
			return fmt.Errorf("--%s: a job starts once; drop the flag", name)
		}
	}
	if o.forms.Plot != "" && o.op.Sizes == nil {
		return fmt.Errorf("--plot: %s has no sizes to draw over; drop the flag", o.op.Name)
	}
	return nil
}

// checkNames finds a flag for a file that names none, or the file of another flag.
func checkNames(f *pflag.FlagSet) error {
	for _, name := range []string{"json", "plot"} {
		if f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return fmt.Errorf("--%s needs the name of a file; found an empty one", name)
		}
	}
	return checkApart(f, "json", "plot")
}

// checkApart finds two flags that name one file, of which a run would leave what it writes last.
func checkApart(f *pflag.FlagSet, names ...string) error {
	given := make(map[string]string) // flags, by their files
	for _, name := range names {
		path := f.Lookup(name).Value.String()
		if path == "" {
			continue
		}
		clean := filepath.Clean(path)
		if first := given[clean]; first != "" {
			return fmt.Errorf("--%s and --%s both name %s; give two files", first, name, path)
		}
		given[clean] = name
	}
	return nil
}

// readSize reads a flag that is a number of bytes, if it was given.
func readSize(f *pflag.FlagSet, name string, to *uint64) (err error) {
	if !f.Changed(name) {
		return nil
	}
	if *to, err = bytesize.Parse(f.Lookup(name).Value.String()); err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	return nil
}

func (o *options) chooseSizes(text string, given bool) error {
	if o.op.Sizes == nil {
		if given {
			return fmt.Errorf("--sizes: %s moves no data; drop the flag", o.op.Name)
		}
		o.sizes = []uint64{0}
		return nil
	}
	o.sizes = o.op.Sizes
	if !given {
		return nil
	}
	var err error
	if o.sizes, err = bytesize.ParseList(text); err != nil {
		return fmt.Errorf("--sizes: %w", err)
	}
	return nil
}

// explain says in a user's words what pflag says in Go's.
func explain(err error, flags *pflag.FlagSet) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name := spelling.Nearest(unknown.GetSpecifiedName(), names); name != "" {
			return fmt.Errorf("%w: is it --%s?", err, name)
		}
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	flag := bad.GetFlag()
	name, want := "--"+flag.Name, "expected a "+flag.Value.Type()
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand
	}
	switch flag.Value.Type() {
	case "int":
		want = "expected a whole number"
	case "float64":
		want = "expected a number"
	case "duration":
		want = "expected a duration such as 400ms or 5s"
	}
	return fmt.Errorf("%s %q: %s", name, bad.GetValue(), want)
}

// help is what --help prints.
func help() string {
	var ops strings.Builder
	for _, op := range operations() {
		fmt.Fprintf(&ops, "\n  %s: %s\n", op.Name, strings.ReplaceAll(op.About, "\n", "\n    "))
	}
	o, sizes := &options{}, ""
	all := Flags(o, &sizes, &collectiveFlags{})
	return `Usage: gaspi-bench OPERATION [flags]

Measures an operation of the runtime, and in turn with it, block by block, a
limit: the least that this machine needs to do the same. Compare the two rows of
a pair, not figures of different runs: machines change their speed by the hour.

Operations:
` + ops.String() + `
Examples:
  gaspi-bench latency --sizes 8:1MiB
  gaspi-bench bandwidth --sizes 1MiB,16MiB --json rows.json
  gaspi-bench barrier -n 8
  gaspi-bench allreduce -n 4 --algorithm all --dtype float32 --sizes 1MiB --verify
  gaspi-bench tune --out machine.json; export GASPI_MACHINE=machine.json
  gaspi-bench allreduce -n 2 --peer openmpi,mpich --sizes 8:64MiB
  gaspi-bench broadcast -n 4 --threshold 0.25 --sizes 8MiB
  gaspi-bench object-broadcast -n 8 --sizes 1MiB --static auto --interval 5ms

Other commands, with flags of their own, which COMMAND --help shows:
  dnn: replays the gradients of a network in training
  figure: makes a figure of a paper, and says which of its statements hold
  report: makes all figures, as one page of HTML
  performance: writes tables of times beside the limit and MPI
  help [OPERATION], version (or --version)
  completion bash|zsh|fish: such as in: source <(gaspi-bench completion bash)

gaspi-bench OPERATION --help shows only the flags that mean something to it.

Flags:
` + all.FlagUsages() + `
Columns: min, p50 and p99 are of blocks of operations of about half a
millisecond, in microseconds per operation; ratio is p50 of gaspi over p50 of
its limit; cpu s/GB is the processor seconds that all ranks together used for
10^9 bytes; allocs/op is counted as go test -benchmem does. Started under
gaspi-run, gaspi-bench measures the job that it is part of.
` + exitCodes
}
