package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// options is what the command line says.
type options struct {
	config  launcher.Config
	verbose bool
	version bool
	dryRun  bool // print the map and start nothing
	display bool // print the map first

	output, bind       string // as written
	onFailure, onStall string
	stats, http        string
	watch              bool
	debug              []int

	hosts, hostfile, ssh string
	emulate, provider    string
}

// parse reads the command line. Its error is one sentence.
func parse(args []string) (*options, error) {
	o := &options{}
	flags := o.flags()
	if err := flags.Parse(respell(args, flags)); err != nil {
		return nil, explain(err, flags)
	}
	switch {
	case o.version && flags.NArg() > 0:
		return nil, fmt.Errorf("--version: unexpected argument %q; leave out --version to start a program", flags.Arg(0))
	case o.version:
		return o, nil
	case flags.NArg() == 0:
		return nil, errors.New("no PROGRAM was given")
	}
	o.config.Program, o.config.Args = flags.Arg(0), flags.Args()[1:]
	if flags.Changed("ranks") && (o.config.Ranks < 1 || o.config.Ranks > launcher.MaxRanks) {
		return nil, fmt.Errorf("-n %d: a job has 1 to %d ranks", o.config.Ranks, launcher.MaxRanks)
	}
	if flags.Changed("kill-grace") {
		if o.config.KillGrace < 0 {
			return nil, fmt.Errorf("--kill-grace %v: expected 0 or more", o.config.KillGrace)
		}
		if o.config.KillGrace == 0 {
			o.config.KillGrace = -1 // which is how a Config says "at once"
		}
	}
	if flags.Changed("timeout") && o.config.Timeout <= 0 {
		return nil, fmt.Errorf("--timeout %v: expected more than 0, such as 30s or 10m", o.config.Timeout)
	}
	if o.config.StallTimeout < 0 {
		return nil, fmt.Errorf("--stall-timeout %v: expected 0 or more", o.config.StallTimeout)
	}
	if flags.Changed("heartbeat") {
		switch h := o.config.Heartbeat; {
		case h == 0:
			o.config.Heartbeat = launcher.NoHeartbeat
		case h < launcher.MinHeartbeat:
			return nil, fmt.Errorf("--heartbeat %v: expected at least %v, or 0 for ever", h, launcher.MinHeartbeat)
		case h > launcher.MaxHeartbeat:
			return nil, fmt.Errorf("--heartbeat %v: expected at most %v, or 0 for ever", h, launcher.MaxHeartbeat)
		}
	}
	var err error
	if o.config.Env, err = fromHere(o.config.Env); err != nil {
		return nil, err
	}
	if err := o.emulation(flags.Changed("emulate")); err != nil {
		return nil, err
	}
	if flags.Changed("tls") && !o.config.TLS {
		o.config.Env = append(o.config.Env, "GASPI_TLS=0") // whatever the environment says
	}
	o.debugged(flags)
	if err := o.names(flags); err != nil {
		return nil, err
	}
	if o.verbose {
		o.config.Env = append(o.config.Env, "GASPI_VERBOSE=1")
	}
	if err := o.choices(); err != nil {
		return nil, err
	}
	if err := o.node(flags, os.LookupEnv); err != nil {
		return nil, err
	}
	if err := o.places(flags, os.LookupEnv); err != nil {
		return nil, err
	}
	return o, cmp.Or(detached(args, flags), o.checkHTTP(flags.Changed("http")), o.config.Check())
}

// debugged reads which ranks are started in a debugger: their waits, and those for them, last.
func (o *options) debugged(flags *pflag.FlagSet) {
	for _, r := range o.debug {
		o.config.Debug = append(o.config.Debug, launcher.Rank(r))
	}
	if len(o.debug) > 0 && !flags.Changed("stall-timeout") {
		o.config.StallTimeout = 0
	}
}

// names reads what has a name of its own, which may not be empty.
func (o *options) names(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("trace") && o.config.Trace == "":
		return errors.New(`--trace "": expected FILE`)
	case flags.Changed("stacks") && o.config.Stacks == "":
		return errors.New(`--stacks "": expected DIR`)
	case !flags.Changed("rdma-provider"):
		return nil
	case o.provider == "":
		return errors.New("--rdma-provider: expected the name of a provider, such as verbs;ofi_rxm; gaspi-run info lists them")
	}
	o.config.Env = append(o.config.Env, "GASPI_RDMA_PROVIDER="+o.provider)
	return nil
}

// emulation reads the network that ranks are to be behind, from the flag if it is given, else
// from the variable.
func (o *options) emulation(flag bool) error {
	origin, text := "--emulate", o.emulate
	if !flag {
		origin, text = envEmulate, o.setting(envEmulate)
	}
	if !flag && text == "" {
		return nil
	}
	if _, err := emulation.Parse(text); err != nil {
		return fmt.Errorf("%s: %w", origin, err)
	}
	if flag {
		o.config.Env = append(o.config.Env, envEmulate+"="+text)
	}
	return nil
}

// envEmulate is read by package gaspi, too.
const envEmulate = "GASPI_EMULATE"

// explain says in a user's words what pflag says in Go's.
func explain(err error, flags *pflag.FlagSet) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if name := nearest(unknown.GetSpecifiedName(), flags); name != "" {
			return fmt.Errorf("%w: is it --%s?", err, name)
		}
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	name, want := "--"+bad.GetFlag().Name, "expected a "+bad.GetFlag().Value.Type()
	switch bad.GetFlag().Value.Type() {
	case "int":
		want = "expected a whole number"
	case "duration":
		want = "expected a duration such as 500ms, 30s or 10m"
	case "intSlice":
		want = "expected ranks such as 0 or 1,3"
	case "bool":
		want = "expected true or false"
	}
	if bad.GetFlag().Shorthand != "" {
		name = "-" + bad.GetFlag().Shorthand
	}
	return fmt.Errorf("%s %q: %s", name, bad.GetValue(), want)
}

// choices translates the flags that are one of several words.
func (o *options) choices() error {
	dir, isDir := strings.CutPrefix(o.output, "dir:")
	switch {
	case o.output == "label":
		o.config.Output = launcher.OutputLabel
	case o.output == "raw":
		o.config.Output = launcher.OutputRaw
	case isDir && dir != "":
		o.config.Output, o.config.OutputDir = launcher.OutputDir, dir
	default:
		return fmt.Errorf("--output %q: expected label, raw or dir:PATH", o.output)
	}
	switch o.bind {
	case "none":
		o.config.Bind = launcher.BindNone
	case "core":
		o.config.Bind = launcher.BindCore
	default:
		return fmt.Errorf("--bind %q: expected core or none", o.bind)
	}
	switch o.onFailure {
	case "abort":
		o.config.OnFailure = launcher.Abort
	case "continue":
		o.config.OnFailure = launcher.Continue
	default:
		return fmt.Errorf("--on-failure %q: expected abort or continue", o.onFailure)
	}
	if o.stats != "" && o.stats != "text" && o.stats != "json" {
		return fmt.Errorf("--stats=%q: expected text or json", o.stats)
	}
	switch o.onStall {
	case "report", "abort":
		o.config.StallAbort = o.onStall == "abort"
	default:
		return fmt.Errorf("--on-stall %q: expected report or abort", o.onStall)
	}
	return nil
}

// flags declares them. Parsing stops at PROGRAM: what follows is not ours.
func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("gaspi-run", pflag.ContinueOnError)
	f.SetInterspersed(false)
	f.SortFlags = false
	f.SetNormalizeFunc(byOwnName)
	f.Usage = func() {}
	c := &o.config
	f.IntVarP(&c.Ranks, "ranks", "n", 0, "number of ranks, also -np and --np; by default one for each slot of\nthe hosts, or one for each core of this one")
	f.StringVar(&o.hosts, "hosts", "", "where ranks run, also --host: `NAME:SLOTS`,NAME:SLOTS and so on;\nthey are numbered host by host")
	f.StringVar(&o.hostfile, "hostfile", "", "`FILE` with hosts, one in a line: NAME slots=N")
	o.nodeFlags(f)
	f.StringVar(&c.Transport, "transport", "", "how ranks reach each other: `NAME` is auto (shared memory on one host,\nelse rdma where both have it, else tcp), shm, tcp or rdma")
	f.StringVar(&o.provider, "rdma-provider", "", "which provider of libfabric transport rdma uses: `NAME` is such\nas verbs;ofi_rxm; gaspi-run info lists them")
	f.StringVar(&c.Interface, "interface", "", "addresses to listen on: `LIST` is eth0, ^lo,docker0 for all but those,\na network such as 10.0.0.0/8, or an address")
	f.StringVar(&c.Ports, "ports", "", "ports to listen at, for ranks and launcher: `LOW-HIGH`")
	f.StringVar(&o.emulate, "emulate", "", "make each rank behave as if it were alone on a host behind a\nnetwork card of its own: `NETWORK` is such as\nlatency=100us,bandwidth=150MB/s (see docs/EMULATION.md)")
	f.BoolVar(&c.TLS, "tls", false, "encrypt all connections (TLS 1.3)")
	f.BoolVar(&c.Remote.Stage, "stage", false, "copy gaspi-run and PROGRAM to the other hosts for this job")
	f.StringVar(&o.ssh, "ssh", "", "`COMMAND` instead of ssh, such as \"ssh -p 2222\"; quotes in it\nare those of a shell")
	f.DurationVar(&c.Heartbeat, "heartbeat", 0, "how long a rank may be stopped, or a host silent, before it\ncounts as dead, such as 3s; a `TIME` of 0 is for ever (default\nGASPI_HEARTBEAT or "+launcher.DefaultHeartbeat.String()+")")
	f.StringVar(&o.output, "output", "label", "label: whole lines after \"[rank] \"; raw: as ranks write it;\ndir:PATH: in files PATH/0.stdout and so on")
	f.StringArrayVarP(&c.Env, "env", "x", nil, "add `NAME=VALUE` to the environment of all ranks, or NAME with the\nvalue that it has here; repeatable")
	f.DurationVar(&c.Timeout, "timeout", 0, "end the job with exit code 124 if it runs longer, such as 10m\n(default none)")
	f.DurationVar(&c.StallTimeout, "stall-timeout", 60*time.Second, "say which rank holds up the others when one has waited for so\nlong, and when that has doubled; a `TIME` of 0 is never")
	f.StringVar(&o.onStall, "on-stall", "report", "report: go on then; abort: end the job with exit code\n124")
	f.StringVar(&o.bind, "bind", "none", "core: rank i runs on the i-th core; where ranks outnumber\nthem, neighbours share one;\nnone: wherever the system puts it")
	f.DurationVar(&c.KillGrace, "kill-grace", launcher.DefaultKillGrace, "how long ranks that were told to end may take before they\nare killed")
	f.StringVar(&o.onFailure, "on-failure", "abort", "when a rank fails: abort ends the others; continue lets them\ngo on and tells them")
	f.BoolVar(&o.watch, "watch", false, "show above the output what ranks do, every second, if standard\nerror is a terminal")
	f.StringVar(&o.stats, "stats", "", "say at the end what ranks did, and which was busy for the\nlongest: a `FORM` is text or json")
	f.Lookup("stats").NoOptDefVal = "text"
	f.BoolVar(&c.Measure, "net-stats", false, "say at the end whether the network, a processor or computation made\nranks slow, with round trips and losses of links and the time for\nwhich ranks had no processor")
	f.StringVar(&o.http, "http", "", "show the job while it runs: a page, counters for Prometheus, and\nprofiles of ranks; `ADDRESS` is such as localhost:8080")
	f.StringVar(&c.Trace, "trace", "", "record when ranks did what, write it to `FILE` at the end, in the\nformat of Perfetto and chrome://tracing, and say which ranks and\ncalls the critical path is made of")
	f.StringVar(&c.Stacks, "stacks", "", "write the stacks of the goroutines of each rank to `DIR`/RANK.stacks\nwhen the job fails, times out or stalls, on SIGQUIT, and when\ngaspi-run ps asks")
	f.IntSliceVar(&o.debug, "debug", nil, "start ranks `RANK,RANK` in a debugger that listens on loopback (dlv,\nelse gdbserver), and say how to reach it; implies --heartbeat 0,\nand --stall-timeout 0 unless that is given")
	f.BoolVar(&o.dryRun, "dry-run", false, "print where ranks would run, on which cores, and how they would\nreach each other; start nothing")
	f.BoolVar(&o.display, "display-map", false, "print the same on standard error, and start them")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say what the launcher does")
	f.BoolVar(&o.version, "version", false, "print the version and end")
	return f
}

// help is what --help prints.
func help() string {
	o := &options{}
	return `Usage: gaspi-run [flags] PROGRAM [ARGS...]
       gaspi-run info [flags]
       gaspi-run ps [JOB]
       gaspi-run top [JOB]
       gaspi-run help | version | completion bash|zsh|fish

Starts PROGRAM as N ranks, on this host or on others, and ends when all have
ended. PROGRAM is a binary (a path, or looked up in PATH) or a Go package (a
directory, a .go file or an import path), which is built first. Flags end at
PROGRAM; ARGS and the environment reach every rank exactly as given. Rank 0 reads
standard input. In a Slurm allocation the ranks run on its nodes. With info it
starts nothing and says how ranks would reach each other from this host; with ps it
says what the ranks of a job do that this user has started from this host, and which
holds up the others, as gaspi-run itself does on SIGQUIT (Ctrl-\); with top it
shows them every second until q is typed, those first that wait the least. A program
that is called info, ps, top, help, version, completion or agent is started as ./help.

Examples:
  gaspi-run -n 4 ./examples/quickstart          build a Go package, run 4 ranks of it
  gaspi-run --bind core --timeout 10m ./solver --input big.dat
  gaspi-run --hosts a:4,b:4 ./solver            8 ranks on two hosts, by ssh
  gaspi-run --nnodes 2 --node-rank 0 --rendezvous a:7117 --key-file job.key -n 4 ./solver
                                                on a, and with --node-rank 1 on b
  gaspi-run -n 8 --output dir:logs --env GOGC=200 ./solver

Flags:
` + o.flags().FlagUsages() + `
Flags that are not given are taken from GASPI_TRANSPORT, GASPI_RDMA_PROVIDER,
GASPI_INTERFACE, GASPI_PORTS, GASPI_EMULATE, GASPI_TLS, GASPI_HEARTBEAT,
GASPI_JOIN_TIMEOUT and GASPI_KEY_FILE, if they are set.

The exit code is 0 if all ranks end with status 0, else that of the first rank
that fails, 128 plus the signal if one killed it. 124: timed out, or stalled; 126: PROGRAM is
there, on this host or another, and cannot be executed; 127: it is not there; 2:
the flags make no sense; 1: the job could not be started for another reason, such
as a package that does not compile or a host out of reach. Ctrl-C is passed on to
all ranks; a second one kills them.
`
}
