// Package boot is the contract between a rank and whoever started it: the
// environment a rank is born with, small values that ranks publish by name, and
// the feed that tells every rank which others are gone.
//
// It knows nothing about segments, queues or transports, and it does not start
// processes: package launcher serves this contract, package gaspi lives by it.
// Nothing here is fast; it is used while a job comes up, goes down, or breaks.
package boot

import (
	"context"
	"errors"
	"net/netip"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// The environment a rank is started with. All of these but EnvHost are
// set, or none.
const (
	EnvRank      = "GASPI_RANK"       // number of this rank, 0 to size-1
	EnvSize      = "GASPI_SIZE"       // number of ranks of the job
	EnvLocalRank = "GASPI_LOCAL_RANK" // number of this rank among those of its host
	EnvLocalSize = "GASPI_LOCAL_SIZE" // number of ranks on this host
	EnvJob       = "GASPI_JOB"        // unique id of the job
	EnvHost      = "GASPI_HOST"       // which host this rank is on; not set, there is one
	EnvFD        = "GASPI_BOOT_FD"    // descriptor of the connection to the launcher
)

// The environment of a rank that joins its job over a network. The first, one of the two
// with the key, EnvRank and EnvSize are needed, the rest is not. A starter that gaspi knows
// says rank and size by variables of its own.
const (
	EnvRendezvous  = "GASPI_RENDEZVOUS"   // where the rendezvous is: host:port, several separated by commas are tried in order
	EnvKeyFile     = "GASPI_KEY_FILE"     // file with the key of the job, 64 hexadecimal digits
	EnvKey         = "GASPI_KEY"          // the key itself, where there is no file
	EnvServer      = "GASPI_SERVER"       // who serves there: "rank0", which is the default, or "launcher"
	EnvInterface   = "GASPI_INTERFACE"    // which addresses of its host a rank uses, as package address reads it
	EnvPorts       = "GASPI_PORTS"        // which ports a rank listens at, as package address reads it; the system chooses without
	EnvTLS         = "GASPI_TLS"          // "1": connections use TLS 1.3; the same for all ranks
	EnvHeartbeat   = "GASPI_HEARTBEAT"    // how long a rank may be silent, such as 10s; 0 for ever; that of whoever serves counts
	EnvJoinTimeout = "GASPI_JOIN_TIMEOUT" // how long to wait for the rendezvous, and then for all ranks, to be there, such as 30s
)

// Variables that tell a rank where its output ends up. Its own standard output is usually a
// pipe to the launcher, so asking the system whether it is a terminal gives the wrong answer.
const (
	// EnvOutputTTY is "1" when a progress line that rewrites itself with a
	// carriage return makes sense, because the launcher shows the output of this
	// rank on a terminal, and "0" when it ends in a file or pipe.
	EnvOutputTTY = "GASPI_OUTPUT_TTY"
	// EnvOutputWidth is the number of columns there that a line of this rank may
	// fill, the label of the launcher already subtracted. It is set only when
	// EnvOutputTTY is "1" and the width is known.
	EnvOutputWidth = "GASPI_OUTPUT_WIDTH"
)

// ErrLost says that the launcher is gone, so nothing more can be asked of it. Where rank 0
// holds the rendezvous, an error that says so matches it.
var ErrLost = errors.New("the launcher is gone")

// A lostServer is ErrLost in other words.
type lostServer string

func (l lostServer) Error() string        { return string(l) }
func (l lostServer) Is(target error) bool { return target == ErrLost }

// errHolderLost is ErrLost in a job without a launcher.
const errHolderLost lostServer = "rank 0, which held the rendezvous of the job, is gone"

// An Info says who a rank is.
type Info struct {
	Rank      base.Rank // 0 to Size-1
	Size      int       // ranks of the job
	LocalRank int       // 0 to LocalSize-1, among the ranks of this host
	LocalSize int       // ranks on this host
	Job       string    // unique id of the job; letters, digits and '-'
	// Rendezvous is the address at which this rank reaches the rendezvous of its job,
	// or would be reached if it is the rendezvous itself. It is not valid where the
	// job has only one host, or that is not known.
	Rendezvous netip.Addr
	Host       string // which host the rank is on, as whoever placed it numbers them; ranks with equal Host share memory
}

// A Failure says that a rank is no longer there.
type Failure struct {
	Rank   base.Rank
	Left   bool   // it ended normally: exit status 0
	Reason string // such as "killed by signal 9" or "exit status 3"
}

// rankError is what an operation that needed the rank returns.
func (f Failure) rankError() *base.RankError {
	return &base.RankError{Rank: f.Rank, Reason: f.Reason, Left: f.Left}
}

// A Session is a rank's line to whoever started it. It is safe for concurrent
// use.
type Session interface {
	// Info says who this rank is.
	Info() Info

	// Put publishes a value of this rank, of at most MaxValue bytes, under a name,
	// UTF-8 of 1 to MaxName bytes, once per name. The value is copied. It does not
	// block.
	Put(name string, value []byte) error

	// Get returns the value that rank r has put under a name. It blocks until that
	// is there, and can be resumed. A rank that is gone and put no such value makes
	// it return a *base.RankError; other errors wrap base.ErrBadRank,
	// base.ErrClosed, ErrLost or the error of ctx. The result belongs to the
	// caller; the session keeps it too, so that asking again costs no message.
	Get(ctx context.Context, r base.Rank, name string) ([]byte, error)

	// Fence is collective: it returns when all ranks have called it with that name,
	// and compares their words, of at most MaxWord bytes. If two differ, it returns
	// base.ErrMismatch, wrapped with two ranks and what they said, on all ranks. It
	// can be resumed: calling again with the same name continues the same fence, and
	// the word of the first call counts. A rank that is gone and did not come makes
	// it return a *base.RankError; other errors wrap base.ErrClosed, ErrLost or the
	// error of ctx. It takes one short message each way per rank.
	Fence(ctx context.Context, name, word string) error

	// Gather is Fence that also tells all ranks a part of each, UTF-8 of at most
	// MaxPart bytes without line feeds, in the one message that each gets. The index of
	// the result is the rank. It is nil on all ranks if the parts together do not fit
	// into a message. Of calls that continue one that ended early the first part counts.
	Gather(ctx context.Context, name, word, part string) ([]string, error)

	// Credentials are what ranks prove to each other with that they are of the same job
	// and, where a launcher has handed them out, which rank each is.
	Credentials() auth.Credentials

	// Kill asks for another rank to be killed (SIGKILL), and returns when it is
	// gone, at once if it already was. The own rank is an error, and so is a
	// number that is no rank (base.ErrBadRank). When ctx ends first, the request
	// still stands; calling again continues to wait.
	Kill(ctx context.Context, r base.Rank) error

	// Miss tells whoever started the job that this rank cannot reach rank r any more,
	// for a reason of which 1 KiB is kept. It does not block, and nobody answers: the
	// launcher says it beside what became of a rank, others do not.
	Miss(r base.Rank, reason string)

	// Failures delivers the other ranks that are gone, each once, never dropping
	// one; also those that went before this session began. The channel is closed
	// by Close, and also when the launcher is gone: Lost then says so.
	Failures() <-chan Failure

	// Lost returns an error that matches ErrLost, and says who is gone and why, if the
	// launcher went away before Close was called, else nil.
	Lost() error

	// Close says goodbye. Calls that still wait return base.ErrClosed. It can be
	// called again without effect, and it never blocks for long.
	Close() error
}

// Limits of what ranks tell each other.
const (
	MaxName  = 256       // bytes of a name
	MaxValue = 512 << 10 // bytes of a value
	MaxWord  = 1024      // bytes of a fence's word
	MaxPart  = 128       // bytes of what a rank tells all others in Gather
)
