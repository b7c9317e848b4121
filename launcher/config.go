package launcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A Config says what to run and how. The zero value of a field means its
// default; Program has none. Run does not change it.
type Config struct {
	// Program is a binary or a Go package. With a slash in it, it is the path of
	// an executable file, of a directory with a Go package, or of a .go file; or,
	// when there is nothing of that name, an import path. Without one it is
	// looked up in PATH, and then taken for a package directory. A package is
	// built once, with the go command, and leaves no file.
	Program string

	// Args follow the program's name, exactly as given.
	Args []string

	// Ranks is the number of processes, at most MaxRanks. Zero means one for
	// each slot of Hosts, or without Hosts for each core this process may use.
	Ranks int

	// Hosts is where the ranks run. They are numbered host by host, in this
	// order, as many on each as it has slots. Nil means all on this host. Hosts
	// that are this one (localhost, its name or address) need no ssh.
	Hosts []Host

	// Remote says how agents are started on other hosts, and what they need to
	// know. It means nothing when there are none.
	Remote Remote

	// Node says which part of a job that is started on each of its nodes this is. The zero
	// value means that all ranks are started from here.
	Node Node

	// Transport is how ranks reach each other: "auto" (shared memory on one host,
	// else RDMA where both have it, else TCP), "shm", "tcp" or "rdma", with which a
	// package is built with RDMA. Empty leaves it to GASPI_TRANSPORT.
	Transport string

	// Interface says which addresses ranks and the launcher listen on: the name
	// of an interface, "^lo,docker0" for all but those, a network such as
	// 10.0.0.0/8, or an address. Empty leaves it to GASPI_INTERFACE, and without that means
	// whatever reaches the others.
	Interface string

	// Ports is the range, such as 7000-7099, that the ports at which ranks and the
	// launcher listen are taken from; the port of Node.Rendezvous is not. Of RDMA it holds
	// for libfabric's provider tcp: the others listen at no port of TCP that could be chosen.
	// Empty leaves it to GASPI_PORTS, and without that to the system.
	Ports string

	// TLS encrypts all connections between hosts (TLS 1.3). GASPI_TLS=1 has the same effect.
	TLS bool

	// Env is added to the environment of this process, as "K=V"; a later entry
	// replaces an earlier one. The variables by which a rank knows who it is
	// (GASPI_RANK and its kin) cannot be set. Variables that say how ranks communicate
	// (GASPI_TLS and others) count for the launcher as well as for the ranks, where the
	// field of the same meaning leaves it to them.
	Env []string

	// Output says what becomes of what the ranks print.
	Output Output

	// OutputDir is the directory that OutputDir writes to; it is made if it is
	// not there.
	OutputDir string

	// Stdin is what rank 0 reads; the other ranks read nothing. Nil means that
	// rank 0 reads nothing either. Run borrows it.
	Stdin *os.File

	// Stdout and Stderr take the output of all ranks. Nil means those of this
	// process. Run borrows them, and writes whole lines under OutputLabel.
	Stdout, Stderr io.Writer

	// Timeout ends a job that runs longer, counted from the start of the ranks.
	// Zero means no limit. Time during which the job was suspended does not count.
	Timeout time.Duration

	// Bind says which cores each rank may use.
	Bind Bind

	// KillGrace is how long ranks that were told to end may take before they are
	// killed. Zero means 5 s; negative means that they are killed at once.
	KillGrace time.Duration

	// OnFailure says what a rank's failure means for the others.
	OnFailure OnFailure

	// Heartbeat is how long silence may last before it counts as death: that of a
	// rank that is stopped (SIGSTOP), of a connection, or of a host. Such a rank
	// is killed. Zero leaves it to GASPI_HEARTBEAT, and without that means 10 s;
	// NoHeartbeat is for ever; other values are at most 24 h. With less than a second, a machine that is busy looks like one that is dead.
	Heartbeat time.Duration

	// StallTimeout is how long a wait of a rank may last before Notice is called with what holds up the
	// ranks: a line that names the cause, and a table of all ranks. Zero means that none is too long.
	StallTimeout time.Duration

	// StallAbort ends the job then, with exit code 124.
	StallAbort bool

	// Watch, if not nil, is called every second with what Observe returns, while nothing else is written to Stdout
	// and Stderr, and not any more once Run has returned. A call holds up output of ranks.
	Watch func(JobView)

	// Measure has the ranks ask the system, some times a second, what their TCP connections and threads do,
	// for Result.Measured.
	Measure bool

	// Probe, if not nil, opens what has the kernel of this host measure the ranks here, where Measure is set. Its
	// error says in words what is missing, and ends nothing. Agents have one of their own: see RunAgent.
	Probe func() (Prober, error)

	// Trace is the file that the timeline of the job is written to when it has ended, in the format of
	// Chrome's trace viewer, which Perfetto opens, too. It is replaced at once when all is written. Ranks
	// keep their last records in memory: 65,536 of 64 bytes, fewer in jobs of more than 64 ranks. Empty
	// means that nothing is recorded. Of a Node other than 0 it means nothing.
	Trace string

	// Stacks is a directory for the stacks of the goroutines of each rank that uses package gaspi, in files
	// RANK.stacks. They are written before a job ends that has failed, timed out or stalled, when a wait has
	// lasted for StallTimeout, on SIGQUIT, and when gaspi-run ps asks. Ranks have 2 s to answer. The directory
	// is made if it is not there. Empty means that no stacks are written.
	Stacks string

	// Debug are ranks that are started in a debugger, which listens on loopback of their host: dlv where
	// it is in PATH, else gdbserver. Notice is called with the command that reaches it. They do nothing
	// before their user says so. Heartbeat is NoHeartbeat then. The exit status of such a rank is that
	// of the debugger.
	Debug []Rank

	// Foreground says that running this job is what the process is for. Signals
	// that this process gets are then forwarded to the ranks, those that would end
	// it do nothing once the job has ended, and processes that leave their rank's
	// process group are ended with the job. All of it changes settings of the whole
	// process, so a library should leave it false.
	Foreground bool

	// Notice is called with one sentence when the job fails: which rank died of
	// what, and what became of the others. It comes after their output, unless
	// they take long to end. It is also called when a rank was stopped while the
	// job was not, and while ranks or hosts have not joined, after 10 s and then every
	// minute. After a SIGQUIT of a foreground job, and when a wait has lasted for StallTimeout, the sentence
	// is followed by lines of a table. Nil means that nobody is told before Run returns.
	Notice func(sentence string)

	// Observe is called once, when the ranks have been started, with what sees them until Run returns. It
	// must not block. Nil means that nobody looks.
	Observe func(*Observer)

	// Log is called with lines about what the launcher does. Nil means silence.
	Log func(line string)
}

// A Host is a place for ranks.
type Host struct {
	Name  string // as ssh takes it: a name or an address, perhaps with user@ before it
	Slots int    // ranks that fit there, at least 1
}

// A Remote says how ranks are started on other hosts. The zero value of a field
// means its default.
type Remote struct {
	// SSH is the command that runs a command line on another host, as ssh does:
	// options, host and command line follow. The default is ssh. It must not ask
	// the user anything, and is told so by -o BatchMode=yes.
	SSH []string

	// Srun starts all agents by one srun instead, because the hosts are nodes of
	// the Slurm allocation that this process is in.
	Srun bool

	// Agent is the command on the other host that calls RunAgent. The default is
	// this process's own program, at the same path there, with the argument agent.
	Agent []string

	// Stage copies agent and program to the other hosts for the time of the job.
	// A program that Run has built is always copied.
	Stage bool

	// Patience is how long agents may take to come up. Zero means 30 s.
	Patience time.Duration
}

// DefaultPatience is what a Remote.Patience of zero means.
const DefaultPatience = 30 * time.Second

// MaxRanks bounds Config.Ranks.
const MaxRanks = 1 << 16

// DefaultKillGrace is what a Config.KillGrace of zero means.
const DefaultKillGrace = 5 * time.Second

// DefaultHeartbeat is what a Config.Heartbeat of zero means without GASPI_HEARTBEAT.
const DefaultHeartbeat = 10 * time.Second

// NoHeartbeat is a Config.Heartbeat without a limit: only a connection that ends is a loss.
const NoHeartbeat = time.Duration(-1)

// MinHeartbeat is the least that any other Config.Heartbeat may be.
const MinHeartbeat = 100 * time.Millisecond

// MaxHeartbeat is the most that any other Config.Heartbeat may be.
const MaxHeartbeat = boot.MaxHeartbeat

// An Output says what becomes of what the ranks print.
type Output int

// The kinds of output.
const (
	// OutputLabel passes on whole lines, each after "[rank] ". Lines of more
	// than 1 MiB are passed on in pieces, each a line of its own. On a terminal,
	// a line that is not finished yet is shown last, and rewritten in place.
	OutputLabel Output = iota
	// OutputRaw lets the ranks write to Stdout and Stderr themselves.
	OutputRaw
	// OutputDir makes two files for each rank, named after it: 0.stdout,
	// 0.stderr and so on. Files of that name are overwritten; links, and what is no
	// regular file, are refused.
	OutputDir
)

// A Bind says which cores a rank may use.
type Bind int

// The kinds of binding.
const (
	// BindNone lets the system place the ranks.
	BindNone Bind = iota
	// BindCore gives each rank of a host one core of those that the process which starts it may use, for all its
	// threads from the start: rank i the i-th. Where ranks outnumber cores, neighbours share one.
	BindCore
)

// An OnFailure says what a rank's failure means for the others.
type OnFailure int

// The consequences of a failure.
const (
	// Abort ends the job: the other ranks are told to end.
	Abort OnFailure = iota
	// Continue leaves the others running. They learn of the failure.
	Continue
)

// Check is the error that Run has for a Config that makes no sense, whatever is on this
// host and others; it starts nothing and looks for no program.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns a checked copy in which every default is filled in.
func (c Config) withDefaults() (Config, error) {
	if c.Ranks == 0 {
		for _, h := range c.Hosts {
			c.Ranks += h.Slots
		}
		if c.Hosts == nil {
			c.Ranks = runtime.NumCPU()
		}
	}
	if c.Remote.SSH == nil {
		c.Remote.SSH = []string{"ssh"}
	}
	if c.Remote.Patience == 0 {
		c.Remote.Patience = DefaultPatience
	}
	if c.Stdout == nil {
		c.Stdout = os.Stdout
	}
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	if c.KillGrace == 0 {
		c.KillGrace = DefaultKillGrace
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	if len(c.Debug) > 0 && c.Heartbeat == 0 {
		c.Heartbeat = NoHeartbeat
	}
	c, err := c.heeding()
	if err != nil {
		return c, err
	}
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case c.Program == "":
		return errors.New("no program was given: name a binary or a Go package")
	case c.Ranks < 1 || c.Ranks > MaxRanks:
		return fmt.Errorf("%d ranks: a job has 1 to %d", c.Ranks, MaxRanks)
	case c.Output < OutputLabel || c.Output > OutputDir:
		return fmt.Errorf("unknown output kind %d", c.Output)
	case c.Output == OutputDir && c.OutputDir == "":
		return errors.New("no directory was given for the output of the ranks")
	case c.Output != OutputDir && c.OutputDir != "":
		return fmt.Errorf("output directory %s was given, but the output does not go to a directory", c.OutputDir)
	case c.StallTimeout < 0:
		return fmt.Errorf("stall timeout %v is negative; 0 means none", c.StallTimeout)
	case c.Timeout < 0:
		return fmt.Errorf("timeout %v is negative; 0 means none", c.Timeout)
	case len(c.Debug) > 0 && c.Heartbeat != NoHeartbeat:
		return fmt.Errorf("heartbeat %v: a rank that stops in a debugger gives no sign of life; leave it out, or say 0", c.Heartbeat)
	case c.Heartbeat < MinHeartbeat && c.Heartbeat != NoHeartbeat:
		return fmt.Errorf("heartbeat %v: expected at least %v, or NoHeartbeat", c.Heartbeat, MinHeartbeat)
	case c.Heartbeat > MaxHeartbeat:
		return fmt.Errorf("heartbeat %v: expected at most %v, or NoHeartbeat", c.Heartbeat, MaxHeartbeat)
	case c.Bind < BindNone || c.Bind > BindCore:
		return fmt.Errorf("unknown kind of binding %d", c.Bind)
	case !slices.Contains(transports, c.Transport):
		return fmt.Errorf("unknown transport %q: expected %s", c.Transport, transportWords)
	case c.OnFailure < Abort || c.OnFailure > Continue:
		return fmt.Errorf("unknown consequence of a failure %d", c.OnFailure)
	}
	for _, arg := range append([]string{c.Program}, c.Args...) {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("argument %q contains a zero byte, which no program can be given", arg)
		}
	}
	if err := supervise.CheckAdded(c.Env); err != nil {
		return err
	}
	if err := c.Node.check(c); err != nil {
		return err
	}
	ranks := c.Ranks
	if c.Node.several() {
		ranks = MaxRanks // until the other nodes have said how many they have
	}
	if err := c.checkDebugged(ranks); err != nil {
		return err
	}
	return c.checkHosts()
}

// checkDebugged refuses to debug a rank that a job of so many does not have.
func (c Config) checkDebugged(ranks int) error {
	for _, r := range c.Debug {
		if r < 0 || int(r) >= ranks {
			return fmt.Errorf("rank %d cannot be debugged: the ranks of the job are 0 to %d", r, ranks-1)
		}
	}
	return nil
}

// stdio says where the output of the ranks goes.
func (c Config) stdio() stdio.Destination {
	return stdio.Destination{Stdout: c.Stdout, Stderr: c.Stderr, Raw: c.Output == OutputRaw, Dir: c.OutputDir}
}

// rules says what the end of a rank, of a wait or of the time means.
func (c Config) rules() policy.Rules {
	return policy.Rules{
		Ranks: c.Ranks, Continue: c.OnFailure == Continue, KillGrace: c.KillGrace, Timeout: c.Timeout,
		StallAbort: c.StallAbort, Stacks: c.Stacks != "",
	}
}

// silence is Heartbeat as connections and stopped ranks take it: 0 for ever.
func (c Config) silence() time.Duration { return max(c.Heartbeat, 0) }

// checkHosts refuses hosts that cannot be, cannot take the ranks, or cannot be joined
// by the transport.
func (c Config) checkHosts() error {
	all, err := c.places()
	switch {
	case err != nil:
		return err
	case c.Transport == "shm" && len(all) > 1:
		return fmt.Errorf("transport shm connects ranks of one host, and these are on %d: use auto or tcp", len(all))
	}
	if _, err := address.ParsePorts(c.Ports); err != nil {
		return err
	}
	return address.Check(c.Interface)
}
