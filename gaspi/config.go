package gaspi

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/detector"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/wireup"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/logging"
	"github.com/gaspi-go/gaspi-go/internal/transport/rdma"
)

// Config holds the parameters of a rank. The zero value of a field means its
// default. All ranks of a job must use the same values, except where noted.
type Config struct {
	// Transport forces a transport: "auto" (the default), "shm", "tcp", "rdma" or
	// "loopback". With auto, ranks of one host share memory and others are reached
	// by RDMA where both have it (see docs/RDMA.md), else over TCP; with tcp or
	// rdma, all are. The environment variable GASPI_TRANSPORT sets it where this
	// field is empty.
	Transport string
	// RDMAProvider is which provider of libfabric transport rdma uses, such as
	// "verbs;ofi_rxm". Empty means the first that drives a network card which moves
	// bytes by itself. The environment variable GASPI_RDMA_PROVIDER sets it where
	// this field is empty.
	RDMAProvider string
	// Interface says on which of the host's addresses this rank can be reached over
	// TCP: names of interfaces ("eth0,eth1"), those but some ("^lo,docker0"), a
	// range ("10.0.0.0/8") or an address. Empty means the address by which it
	// reached the launcher. The environment variable GASPI_INTERFACE sets it where
	// this field is empty. May differ per rank.
	Interface string

	// Emulate makes each rank behave as if it were alone on a host behind a network
	// card of its own: "latency=100us,bandwidth=150MB/s" and more, see
	// docs/EMULATION.md. All ranks must be on one host. Empty means that nothing is
	// emulated. The environment variable GASPI_EMULATE sets it where this field is
	// empty. Init raises GOMAXPROCS by 1 for the thread that delivers, and Local by 2
	// for each rank until it returns.
	Emulate string

	// Queues is how many queues exist from the start. Default 8.
	Queues int
	// QueuesMax is how many queues may exist at a time, those of Queues
	// included. Default 64.
	QueuesMax int
	// QueueDepth is how many operations one queue holds between two waits.
	// Default 1024. Small values make posts return ErrQueueFull earlier.
	QueueDepth int

	// Segments is how many segments a rank may have at a time; ids go from 0 to
	// Segments-1. Default 1024. Each costs peers of the same host 64 bytes plus a
	// bit per rank.
	Segments int
	// Notifications is how many notifications a segment has unless it is created
	// with another number. Default 65536. Each costs 4 bytes when it is used.
	Notifications uint32
	// TransferMax is the largest single transfer in bytes. Default 1 GiB.
	TransferMax uint64
	// ListMax is the largest number of entries of a list operation. Default 255.
	ListMax int

	// Groups is how many groups may exist at a time: the world, those of the program,
	// and one for each team and each stale reduction. Default 128. Each costs up to
	// 46 KiB when it is used, and 16 bytes per rank of the job when it is committed.
	Groups int
	// AllReduceElements is the longest vector of the small AllReduce, in
	// elements of 8 bytes. Default 255.
	AllReduceElements int
	// PassiveMax is the largest passive message in bytes. Default 65535. Each
	// rank keeps that much for every other rank, but only touches it when used.
	PassiveMax int

	// Spin is how long a wait looks at its notification without giving up the
	// core, before it yields and then sleeps. Zero means 100 us where every local
	// rank has a core, else nothing; negative means nothing. May differ per rank.
	Spin time.Duration
	// Yield is how long a wait gives up its core again and again before it
	// sleeps. Zero means 100 us, or 1 ms where ranks share cores but no memory;
	// negative means nothing. May differ per rank.
	Yield time.Duration

	// KeepGoing matters to Local alone: the other ranks go on when one fails. A
	// job of gaspi-run decides this by --on-failure. May not differ per rank.
	KeepGoing bool

	// Log receives what is worth knowing but no error, such as the transport
	// that was chosen. Nil leaves it to GASPI_LOG, and without that means nothing is logged. May differ per rank.
	Log *slog.Logger
}

// withDefaults returns c with defaults in place of zeros.
func (c Config) withDefaults() Config {
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	if c.Transport == "" {
		c.Transport = "auto"
	}
	fill(&c.Queues, 8)
	fill(&c.QueuesMax, max(64, c.Queues))
	fill(&c.QueueDepth, 1024)
	fill(&c.Segments, 1024)
	fill(&c.ListMax, 255)
	fill(&c.Groups, 128)
	fill(&c.AllReduceElements, 255)
	fill(&c.PassiveMax, 65535)
	if c.Notifications == 0 {
		c.Notifications = 65536
	}
	if c.TransferMax == 0 {
		c.TransferMax = 1 << 30
	}
	return c
}

// validate returns an error that names the first parameter that makes no sense.
func (c Config) validate() error {
	switch c.Transport {
	case "auto", "shm", "tcp", "rdma", "loopback":
	default:
		return fmt.Errorf("gaspi: %s=%.80q: expected auto, shm, tcp, rdma or loopback", origin("Transport", envTransport, c.Transport), c.Transport)
	}
	if c.RDMAProvider != "" {
		if err := boot.CheckProvider(c.RDMAProvider); err != nil {
			return fmt.Errorf("gaspi: %s=%.80q: %w", origin("RDMAProvider", envProvider, c.RDMAProvider), c.RDMAProvider, err)
		}
	}
	if c.Emulate != "" {
		if _, err := emulation.Parse(c.Emulate); err != nil {
			return fmt.Errorf("gaspi: %s: %w", origin("Emulate", envEmulate, c.Emulate), err)
		}
	}
	for _, f := range []struct {
		name     string
		value    int
		min, max int
	}{
		{"Queues", c.Queues, 1, c.QueuesMax},
		{"QueuesMax", c.QueuesMax, 1, 1 << 16},
		{"QueueDepth", c.QueueDepth, 1, 1 << 30},
		{"Segments", c.Segments, 1, 1 << 20},
		{"ListMax", c.ListMax, 1, 1 << 20},
		{"Groups", c.Groups, 1, 1 << 12},
		{"AllReduceElements", c.AllReduceElements, 1, 1 << 20},
		{"PassiveMax", c.PassiveMax, 1, 1 << 26},
		{"Notifications", int(c.Notifications), 1, maxNotifications},
	} {
		if f.value < f.min || f.value > f.max {
			return fmt.Errorf("gaspi: Config.%s is %d; want %d to %d", f.name, f.value, f.min, f.max)
		}
	}
	return nil
}

// common is what must be the same on all ranks, because it decides where things
// lie in a rank's system segment and what may be sent.
func (c Config) common() string {
	return fmt.Sprintf("Segments %d, Groups %d, AllReduceElements %d, PassiveMax %d, Emulate %q",
		c.Segments, c.Groups, c.AllReduceElements, c.PassiveMax, c.Emulate)
}

// Variables of the environment that set a field of Config where the program leaves it empty.
const (
	envTransport = "GASPI_TRANSPORT"
	envInterface = "GASPI_INTERFACE"
	envEmulate   = "GASPI_EMULATE"
	envProvider  = "GASPI_RDMA_PROVIDER"
)

// prepare returns c with the environment and defaults in place of zeros, and the first error of
// that.
func (c Config) prepare() (Config, error) {
	for _, f := range []struct {
		field *string
		name  string
	}{
		{&c.Transport, envTransport}, {&c.Interface, envInterface}, {&c.Emulate, envEmulate}, {&c.RDMAProvider, envProvider},
	} {
		if *f.field == "" {
			*f.field = os.Getenv(f.name)
		}
	}
	c = c.withDefaults()
	if err := wireup.CheckEnvironment(); err != nil {
		return c, fmt.Errorf("gaspi: %w", err)
	}
	var err error
	if c.Log, err = c.logger(); err != nil {
		return c, fmt.Errorf("gaspi: %w", err)
	}
	return c, c.validate()
}

// logger returns that of the program, if it has one, else what the environment asks for. A file of it
// is named after the rank, or after the process where a starter says the rank in another way.
func (c Config) logger() (*slog.Logger, error) {
	if c.Log != nil {
		return c.Log, nil
	}
	s, err := logging.Read(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	l, err := s.Open(cmp.Or(os.Getenv(boot.EnvRank), fmt.Sprintf("p%d", os.Getpid())))
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return l, err
}

// origin names what has set a field of Config to a value: the variable of the environment, or
// the program.
func origin(field, variable, value string) string {
	if os.Getenv(variable) == value {
		return variable
	}
	return "Config." + field
}

// segmentIDs is how many ids of segments there are: those of the program and of the
// runtime's own two.
func (c Config) segmentIDs() int { return c.Segments + 2 }

// wiring is how the rank of a session is connected. peers hears of losses.
func (c Config) wiring(session boot.Session, peers *detector.Detector) wireup.Wiring {
	return wireup.Wiring{
		Session: session, Transport: c.Transport, Provider: c.RDMAProvider, Emulate: c.Emulate, Segments: c.segmentIDs(),
		Interface: c.Interface, InterfaceFrom: origin("Interface", envInterface, c.Interface),
		Spin: c.Spin, Yield: c.Yield, Lost: peers.LinkLost, Fallen: peers.NoteEnd, Log: c.Log, Say: say,
	}
}

// A Way is one way in which ranks can reach each other from this host.
type Way struct {
	Transport string // as Config.Transport wants it
	Provider  string // of libfabric, as Config.RDMAProvider wants it; for rdma alone
	Device    string // for rdma alone
	// Chosen says that auto takes it: shm between ranks of a host, one of the others
	// between hosts, if the other host has it too.
	Chosen bool
	// Missing is why it cannot be used here, empty if it can.
	Missing string
}

// Ways are those that this program has on this host, best first. It connects to
// nobody. With transport rdma there is one for each device of each provider.
func Ways() []Way {
	ways := []Way{{Transport: "shm", Chosen: true}}
	providers, err := rdma.Providers()
	fast := false
	for _, p := range providers {
		ways = append(ways, Way{Transport: "rdma", Provider: p.Name, Device: p.Device, Chosen: p.Hardware && !fast})
		fast = fast || p.Hardware
	}
	if err != nil || len(providers) == 0 {
		missing := "libfabric has no provider that can be used here"
		if err != nil {
			missing = fmt.Sprint(err)
		}
		ways = append(ways, Way{Transport: "rdma", Missing: missing})
	}
	return append(ways, Way{Transport: "tcp", Chosen: !fast})
}
