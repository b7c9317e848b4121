package beside

import (
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Peers are what the command line says about peers: libraries that are
// measured in turns with the runtime.
type Peers struct {
	Names       []string
	Algorithms  map[string][]string // forced, by peer
	Best        bool                // each algorithm of each peer is measured
	Segments    int                 // of an allreduce of a peer, nonblocking calls under way together; at most 1 is one call
	Repetitions int
	Limit       time.Duration
}

// Sides say what is measured beside peers.
type Sides struct {
	Op        string
	Ranks     int
	Sizes     []uint64
	Transport string // of all sides
	Provider  string // of libfabric
	Bind      string // core, none or auto
	Rules     measure.Rules
	Forms     report.Forms
	Alone     bool             // the runtime has no limit
	Call      *collective.Spec // nil for an operation that is none of package collectives
	Peers     Peers
	Args      []string // of the ranks of the runtime
	// Start says how the ranks of the runtime are started.
	Start func(forms report.Forms, args []string, stdout, stderr *os.File) (launcher.Config, error)
	// Headline is the line that says what is measured where.
	Headline func(cores int, bound bool) string
}
