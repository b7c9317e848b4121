package lint

import "testing"

// table is who may import whom. "a, b < c;" means that c may import a and b,
// and nothing follows from two lines together. It is a statement of policy:
// moving a line needs a reason in the commit, and a wider line a measurement.
const table = `
	# The bottom knows nothing of ours.
	NONE < gaspi/base, gaspi/datatype, collectives/model, internal/sys, internal/sys/cpu, internal/chart,
	       internal/lint, internal/spelling, internal/nap, internal/tally, internal/address, internal/schedule, internal/namedfile, internal/control, internal/heap;
	NONE < internal/simd;
	internal/simd < internal/reduce, examples/fft/distfft;   # kernels in assembly
	gaspi/datatype < internal/reduce, gaspi, collectives, hoplite;   # elements and operations, by the names that programs use
	collectives/model < internal/schedule/price, collectives;   # a machine, likewise
	NONE < internal/near, internal/slurm, internal/phrase;
	internal/phrase < internal/boot, launcher;   # parts of sentences
	internal/slurm < internal/boot, launcher;   # lists that Slurm writes
	internal/near < internal/boot, launcher;   # a text for processes of one host
	internal/namedfile < internal/auth, launcher, collectives, cmd/gaspi-bench, examples/mfsgd;   # files that users name
	internal/heap < internal/transport/emulate, hoplite, cmd/gaspi-bench;   # events by their time; of hoplite and gaspi-bench, their simulators

	# The system, by what is asked of it; descriptors, and errors of what it lacks, are common to all.
	internal/sys < internal/sys/memory, internal/sys/process, internal/sys/socket, internal/sys/thread;

	# A flag word, then memory that carries such words.
	gaspi/base, internal/sys/cpu, internal/sys/thread < notify;
	gaspi/base, internal/sys, internal/sys/cpu, internal/sys/memory, notify < segment;

	# Networks to be emulated, as programs describe them.
	gaspi/base < gaspi/emulation;
	gaspi/emulation < internal/transport/emulate, gaspi, collectives, cmd/gaspi-run, cmd/gaspi-bench, examples/paramserver/rankrun;

	# Who may connect at all, and where to listen. What launcher and rank agree on; it is all they share.
	internal/auth < internal/boot, internal/transport/tcp, launcher, gaspi;
	internal/address < internal/boot, internal/transport/tcp, internal/transport/rdma, launcher, gaspi;
	internal/control < internal/boot, launcher;   # what both speak over
	gaspi/base < internal/boot;
	gaspi/base < internal/peerstate;
	internal/peerstate < gaspi;
	NONE < internal/logging;
	internal/logging < gaspi, collectives;   # lines that the environment asks for
	gaspi/base < internal/status;
	internal/status < gaspi, launcher;   # which one writes and the other reads
	gaspi/base, internal/status, internal/sys/process, internal/sys/socket < internal/netstat;
	internal/netstat < gaspi, launcher;   # likewise
	gaspi/base, internal/status, internal/sys, internal/sys/cpu, internal/sys/memory < internal/trace;
	internal/trace < gaspi, collectives, launcher;   # likewise; of collectives, its steps

	# The seam and what is below it. Transports do not know each other.
	gaspi/base, internal/sys/cpu, internal/sys/socket, notify, segment < internal/transport;
	internal/sys/cpu < internal/tally;
	internal/tally < internal/transport, gaspi;   # counts of transfers
	internal/sys < internal/transport/shm, internal/transport/tcp, internal/transport/emulate;
	internal/sys/memory, internal/sys/process < internal/transport/shm;   # memory of ranks that live
	internal/sys/socket < internal/transport/tcp, internal/transport/rdma, internal/transport/mixed;   # of mixed, their measures
	internal/sys/thread < internal/transport/rdma, internal/transport/emulate;   # which have threads of their own
	gaspi/base, notify, segment, internal/transport
	< internal/transport/loopback, internal/transport/shm, internal/transport/tcp,
	  internal/transport/rdma, internal/transport/mixed,
	  internal/transport/emulate, internal/transport/faulty, internal/transport/transporttest;
	gaspi/base, notify, segment, internal/transport < internal/transport/remote;
	internal/transport/remote < internal/transport/loopback, internal/transport/tcp, internal/transport/rdma,
	  internal/transport/emulate, internal/transport/faulty;   # their common parts
	internal/transport/loopback < internal/transport/mixed, internal/transport/emulate, internal/transport/faulty;   # their tests are made of it

	# The runtime. It picks transports and knows nothing of what is built on it.
	gaspi/base, internal/boot, internal/reduce, notify, segment, internal/transport,
	internal/transport/loopback, internal/transport/shm, internal/transport/tcp,
	internal/transport/rdma, internal/transport/mixed,
	internal/transport/emulate
	< gaspi;
	internal/sys/cpu, internal/sys/socket < gaspi;   # to count by stores that nothing waits for; whether a congestion control exists, and measures

	# What is built on it: one-sided calls and pure code, never a transport,
	# never each other.
	gaspi, notify, segment, internal/reduce, internal/nap, internal/agree
	< collectives, ssp, hoplite;
	gaspi < internal/agree;

	internal/sys/cpu < ssp;   # to tell its clock by a store that nothing waits for

	# Collectives as data: the language; what proves and prices schedules; the
	# algorithms, whose tests prove and price them. All of it is pure.
	internal/schedule < internal/schedule/prove, internal/schedule/price;
	internal/schedule, internal/schedule/prove, internal/schedule/price < internal/schedule/algorithms;
	internal/schedule, internal/schedule/algorithms, internal/schedule/price < collectives;

	internal/sys/cpu < hoplite;   # to copy past the caches
	internal/sys/cpu < collectives;   # to ask for cache lines before they are needed

	# Processes. The launcher would start any program, so it knows no gaspi.
	gaspi/base, internal/boot, internal/sys, internal/sys/memory, internal/sys/process, internal/sys/thread < launcher;

	# Programs see what a user sees. gaspi-bench also measures the machine's own
	# limits, which takes bare memory and the choice of a core.
	gaspi, notify, segment, collectives, ssp, hoplite, launcher
	< cmd/..., examples/...;
	gaspi, collectives, ssp, hoplite < capi;   # the library for C, which is a program to Go
	internal/chart < cmd/..., examples/..., docs/guide/img;   # figures as SVG; pure
	NONE < docs/guide/img;   # draws what the guide shows
	# Flags, files and the end of a job.
	examples/program < examples/fft, examples/mfsgd, examples/paramserver/rankrun, examples/paramserver, examples/actors;
	examples/fft/serial < examples/fft/distfft;   # in its tests
	examples/fft/serial, examples/fft/distfft < examples/fft;
	# Two programs of one server and its workers have the same traffic.
	examples/paramserver/exchange < examples/paramserver/rankrun;
	examples/paramserver/exchange, examples/paramserver/rankrun < examples/paramserver, examples/actors;
	examples/paramserver/rankrun/programtest < examples/paramserver, examples/actors;   # in their tests
	internal/spelling < cmd/...;   # what a user meant
	internal/sys, internal/sys/cpu, internal/sys/process, internal/sys/socket, internal/sys/thread < cmd/gaspi-bench;
	# Limits of collective operations fold with the same kernels; algorithms are named
	# before ranks start; tune writes the parameters of the model.
	internal/reduce, internal/schedule, internal/schedule/algorithms, internal/schedule/price < cmd/gaspi-bench;

	# Outside dependencies and their owners.
	golang.org/x/sys/unix < internal/sys, internal/sys/..., internal/testenv, internal/testenv/refuse;
	golang.org/x/sys/cpu < internal/simd;
	github.com/klauspost/compress/... < examples/mfsgd, hoplite, collectives;   # of collectives, its codec
	github.com/spf13/pflag < cmd/..., examples/...;
	golang.org/x/term < cmd/..., examples/..., launcher;
	github.com/cilium/ebpf/... < cmd/gaspi-run;   # its package probe, which no rank links
	internal/sys < cmd/gaspi-run;   # likewise, for the clock of the kernel
	gonum.org/v1/gonum/stat, gonum.org/v1/gonum/stat/distuv < cmd/gaspi-bench;   # confidence intervals
	gonum.org/v1/gonum/dsp/fourier < examples/fft/serial, examples/fft/distfft;   # what transforms are checked with
	github.com/mmcloughlin/avo/... < internal/reduce/asm, examples/fft/distfft; # in modules of their own

	# unsafe is a dependency like any other (and only in files that say so).
	unsafe < internal/sys/cpu, internal/sys/process, internal/sys/socket, internal/sys/thread, internal/trace, notify, segment, internal/reduce, internal/transport/shm, internal/transport/rdma, gaspi, internal/testenv/refuse, capi;
	C < internal/transport/rdma, capi;   # with the build tags rdma and capi only

	# Tests of any package may also use these.
	github.com/google/go-cmp/..., github.com/anishathalye/porcupine, gaspi/base, internal/testenv, internal/testenv/cluster, internal/testenv/kills, internal/testenv/pages, internal/testenv/tracefile,
	internal/transport/transporttest, internal/ranktest, launcher
	< TEST;
	NONE < internal/testenv;
	internal/testenv < internal/transport/transporttest;   # itself for tests alone
	gaspi, launcher, internal/testenv < internal/ranktest;   # starts ranks in every way
	internal/ranktest < examples/paramserver/rankrun/programtest;   # itself for tests alone
	NONE < internal/testenv/refuse;   # a command that takes system calls away from another
	NONE < internal/testenv/tracefile;   # files that gaspi-run --trace writes
	NONE < internal/testenv/pages;   # code that documents show, as text
	NONE < internal/testenv/testlog;   # a command that reads the events of go test
	internal/testenv, internal/sys/process < internal/testenv/cluster;   # to be on the network of a host
	launcher, internal/ranktest < internal/testenv/kills;   # whose jobs lose ranks
	internal/testenv, internal/sys/process < internal/testenv/vm;   # whose programs end with the test
	gaspi, internal/testenv/vm < internal/testenv/vm/verbs;   # tests of jobs in a virtual machine, and nothing else
	gaspi, collectives, internal/faults, internal/sys/thread < internal/system;   # tests of whole jobs, and nothing else
	gaspi, collectives, internal/schedule/algorithms, internal/schedule, ssp, hoplite, internal/transport, internal/transport/faulty < internal/faults;   # what tests of faults need, in bubbles and in whole jobs
	NONE < internal/python;   # tests of the package for Python, and nothing else
	gaspi, collectives, ssp, hoplite < internal/threads;   # tests of many goroutines, and nothing else
	gaspi, collectives, ssp, hoplite < internal/torture;   # sees what a user sees
`

// benchTable is who may import whom among the internal packages of cmd/gaspi-bench; the
// command itself may import all of them.
const benchTable = `
	# Sizes in text; the programs of other libraries; bare limits, which know no clock.
	NONE < bytesize, peer/peertest, limit;
	peer/peertest < peer, beside;   # in their tests

	# Rows and their forms, then the clock, whose contenders take turns.
	bytesize < report, dnn;
	limit, report < measure;

	# What is measured. Objects stand beside collectives; the model is tuned by both.
	limit, measure, report < transfer, collective, object, model;
	measure < dnn;   # whose layers compute
	bytesize < collective, model;
	collective < object, model;
	transfer < model;
	measure, peer, report < startup;   # which peers begin alike
	peer, collective, measure, report, bytesize < beside;   # which adds rounds, and the ranks' own jobs

	# Figures start the command, and read its rows; so does the comparison of two commits.
	report < subprocess;
	NONE < loop;   # of stale reductions, simulated or run
	dnn, report, subprocess, loop < figure;
	figure < page;   # which writes them
	bytesize, report, subprocess < performance;   # whose tables have rows of all operations
	bytesize, report, subprocess < benchdiff;
`

// launcherTable is who may import whom among the internal packages of launcher.
const launcherTable = `
	# The text of host lists; frames to and from an agent; parts of sentences; the standard files of ranks.
	NONE < hosts, talk, phrase, stdio;

	# The processes of this host, and the program that they execute.
	phrase, stdio < supervise;
	supervise < executable;

	# The processes that start agents on other hosts.
	supervise < bootstrap;

	# What the ends of ranks, hosts and time limits mean for a job.
	phrase, supervise < policy;

	# From what ranks tell of themselves, which of them holds up the others.
	phrase < stall;

	# And from what they have recorded, one timeline.
	NONE < timeline;

	# The ranks of another host, and both ends of the connection with it.
	hosts, talk, phrase, stdio, supervise, executable, policy, timeline < agent;
	agent, hosts < listener;   # where it connects; of hosts, the places in its tests

	# Signals of the launcher, which end its waits, such as that for other nodes.
	supervise < signals;
	agent, hosts, phrase, signals, talk < rendezvous;
`

// bootTable is who may import whom among the internal packages of internal/boot.
const bootTable = `
	NONE < pmi;   # what process managers speak
	NONE < variables;   # forms of values
	variables < starters;   # what started this process
`

// hopliteTable is who may import whom among the internal packages of hoplite.
const hopliteTable = `
	NONE < arena, shape;   # ranges of a store; the tree of a reduction
	arena, shape < core;
	core, shape < sim;   # which drives many cores
`

// gaspiTable is who may import whom among the internal packages of gaspi.
const gaspiTable = `
	NONE < detector, numbers, consent, turns, profile, topology;   # when a rank counts as gone; things by number; an agreement; an order of calls; profiles; trees over hosts
	topology < wireup, layout;   # transports, and what a rank says of its host; where things lie in the system segment
`

// collectivesTable is who may import whom among the internal packages of collectives.
const collectivesTable = `
	# Numbers of posts; coded forms; the accounts of memory; what tests compare results with; who
	# may use a team; which vectors become one operation; what members say beside operations;
	# whose end is why they cannot go on.
	NONE < posts, codec, memory, oracle, progress, fusion, meeting, loss;

	# Whether calls match, and which algorithm does them. Neither knows how.
	posts < agreement;
	codec < choice;

	# Schedules at work, which know neither calls nor who chose them.
	posts, codec, memory < executor;

	# Elements of a call, which it folds and codes.
	codec, executor < element;
`

// advice says what to do instead, by what was imported.
var advice = map[string]string{
	"unsafe":                            "use the typed views of package segment, or put the few lines into a *_unsafe.go file of a package that may",
	"golang.org/x/sys/unix":             "wrap the system call in a package below internal/sys and call that",
	"golang.org/x/sys/cpu":              "ask internal/simd",
	"github.com/spf13/pflag":            "take a struct or arguments; flags are parsed in cmd and examples",
	"github.com/google/go-cmp/...":      "compare by hand; go-cmp is for _test files",
	"github.com/klauspost/compress/...": "take an io.Reader or io.Writer; only where data is (de)compressed may know the format",
	"gonum.org/v1/gonum/stat":           "return the numbers; gaspi-bench judges them",
	"gonum.org/v1/gonum/stat/distuv":    "return the numbers; gaspi-bench judges them",
	"gonum.org/v1/gonum/dsp/fourier":    "transform with examples/fft/distfft; gonum's is what that is checked with",
	"github.com/mmcloughlin/avo/...":    "generate assembly in a module of its own, as internal/reduce/asm does",
	"internal/transport/...":            "use the one-sided calls of package gaspi, or the seam in internal/transport if you are a transport",
	"internal/transport":                "use the one-sided calls of package gaspi",
	"internal/transport/transporttest":  "it is for _test files of transports",
	"internal/sys":                      "use gaspi, segment or notify, which wrap what the system gives",
	"internal/sys/...":                  "use gaspi, segment or notify, which wrap what the system gives",
	"internal/boot":                     "only launcher and gaspi meet there; use one of them",
	"internal/control":                  "only launcher and boot speak over control connections; use one of them",
	"internal/lint":                     "it only tests the code",
	"gaspi":                             "packages below gaspi and the launcher do not know it; pass what you need as an argument",
	"collectives":                       "write it with the one-sided calls of package gaspi, or share pure code such as internal/schedule",
	"ssp":                               "write it with the one-sided calls of package gaspi",
	"hoplite":                           "write it with the one-sided calls of package gaspi",
	"launcher":                          "the launcher stands beside the runtime; only programs and tests use it",
	"C":                                 "the default build needs no C compiler; ask for a build tag and a line in the table first",
	"examples/...":                      "examples stand alone",
}

func TestImportTable(t *testing.T) {
	rules, err := parseRules(table)
	if err != nil {
		t.Fatal(err)
	}
	m := loadModule(t)
	report(t, checkImports(m, rules, advice))
}

func TestImportTablesOfInternalPackages(t *testing.T) {
	m := loadModule(t)
	for root, table := range map[string]string{"cmd/gaspi-bench": benchTable, "launcher": launcherTable, "gaspi": gaspiTable, "collectives": collectivesTable, "hoplite": hopliteTable} {
		t.Run(root, func(t *testing.T) {
			rules, err := parseRules(table)
			if err != nil {
				t.Fatal(err)
			}
			report(t, checkInside(m, root, rules))
		})
	}
}

func TestImportTableOfBoot(t *testing.T) {
	rules, err := parseRules(bootTable)
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkInside(loadModule(t), "internal/boot", rules))
}

func TestCheckInside(t *testing.T) {
	rules, err := parseRules("NONE < low; low < top;")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, imp string
		want            []string
	}{
		{"allowed", "cmd/x/internal/top/a.go", "example.org/m/cmd/x/internal/low", nil},
		{"upwards", "cmd/x/internal/low/a.go", "example.org/m/cmd/x/internal/top", []string{"cmd/x/internal/low/a.go:2: low must not import top"}},
		{"upwards in a test", "cmd/x/internal/low/a_test.go", "example.org/m/cmd/x/internal/top", []string{"low must not import top"}},
		{"test of itself", "cmd/x/internal/low/a_test.go", "example.org/m/cmd/x/internal/low", nil},
		{"the command itself", "cmd/x/a.go", "example.org/m/cmd/x/internal/top", nil},
		{"packages elsewhere", "cmd/y/internal/low/a.go", "example.org/m/cmd/y/internal/top", nil},
		{"new package", "cmd/x/internal/other/a.go", "fmt", []string{"cmd/x/internal/other: the table of cmd/x does not know this package"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{c.path: "package p\nimport _ \"" + c.imp + "\"\n"})
			expect(t, checkInside(m, "cmd/x", rules), c.want...)
		})
	}
}

func TestUnsafeOnlyInFilesThatSaySo(t *testing.T) {
	report(t, checkUnsafe(loadModule(t).files))
}

func TestParseRulesRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no arrow", "a, b;", `rule "a, b"`},
		{"chain", "a < b < c;", `rule "a < b < c"`},
		{"nothing below", "< c;", "want"},
		{"circle", "a < b; b < c; c < a;", "circle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseRules(c.text)
			if err == nil {
				t.Fatalf("%q was accepted", c.text)
			}
			expect(t, []string{err.Error()}, c.want)
		})
	}
}

func TestCheckImports(t *testing.T) {
	const small = `
		NONE < low, internal/priv;
		low < mid;            # mid may import low
		mid < top, cmd/...;
		example.com/dep/... < top;
		unsafe < low;
		example.com/cmp < TEST;
	`
	for _, c := range []struct {
		name, path, imp string
		want            []string
	}{
		{"std is free", "low/a.go", "net/http", nil},
		{"allowed", "mid/a.go", "example.org/m/low", nil},
		{"allowed below a pattern", "cmd/x/a.go", "example.org/m/mid", nil},
		{"upwards", "low/a.go", "example.org/m/mid", []string{"low/a.go:2: low must not import mid; ask mid's owner"}},
		{"not transitive", "top/a.go", "example.org/m/low", []string{"top must not import low"}},
		{"outside, by its owner", "top/a.go", "example.com/dep/sub", nil},
		{"outside, by another", "mid/a.go", "example.com/dep/sub", []string{"mid must not import example.com/dep/sub"}},
		{"outside, without owner", "top/a.go", "example.com/new", []string{"must not import example.com/new; move what both need"}},
		{"own internal packages", "top/a.go", "example.org/m/top/internal/x", nil},
		{"internal packages count as the owner", "top/internal/x/a.go", "example.org/m/low", []string{"top must not import low"}},
		{"top-level internal is itself", "mid/a.go", "example.org/m/internal/priv", []string{"must not import internal/priv"}},
		{"test helper in a test", "mid/a_test.go", "example.com/cmp", nil},
		{"test helper in code", "mid/a.go", "example.com/cmp", []string{"must not import example.com/cmp"}},
		{"test of itself", "mid/a_test.go", "example.org/m/mid", nil},
		{"test upwards", "low/a_test.go", "example.org/m/top", []string{"low must not import top"}},
		{"unsafe", "mid/a.go", "unsafe", []string{"mid must not import unsafe"}},
		{"cgo", "mid/a.go", "C", []string{"mid must not import C"}},
		{"new package", "other/a.go", "fmt", []string{"other: the import table does not know this package"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, err := parseRules(small)
			if err != nil {
				t.Fatal(err)
			}
			m := fake(t, map[string]string{c.path: "package p\nimport _ \"" + c.imp + "\"\n"})
			expect(t, checkImports(m, rules, map[string]string{"mid": "ask mid's owner"}), c.want...)
		})
	}
}

func TestCheckUnsafe(t *testing.T) {
	const src = "package p\nimport \"unsafe\"\nconst _ = unsafe.Sizeof(0)\n"
	m := fake(t, map[string]string{
		"p/a_unsafe.go":       src,
		"p/a_unsafe_amd64.go": src,
		"p/a_unsafe_test.go":  src,
		"p/unsafely.go":       src,
	})
	expect(t, checkUnsafe(m.files), "p/unsafely.go:2: unsafe outside")
}
