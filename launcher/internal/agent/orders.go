package agent

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// Version is the version of the protocol between launcher and agent. It changes whenever
// an old peer could misunderstand a new one.
const Version = 6

// Kinds of frames between launcher and agent. Data is a gob unless the comment says bytes or
// text. A stream is an output of a rank: twice its place among the ranks of the host, plus 1
// for stderr.
const (
	// To the agent.
	frameOrder    talk.FrameKind = iota + 1 // Order
	frameProgram                            // bytes of the program; none: that was all
	frameSignal                             // number: signal for all ranks
	frameKill                               // number: rank to kill
	frameInput                              // bytes for rank 0 to read; none: the end
	frameTaken                              // number: stream; data: count of its bytes that were taken
	frameFinish                             // end what the ranks have left behind
	frameHurry                              // and do not wait for it
	frameOver                               // the job is over; for a node: JobEnd
	frameNotice                             // text for the user of a node
	frameLook                               // number: of the question; data: wantMeasures or wantTables; rowsFrame is the answer
	framePing                               // number: of the question; pong is the answer
	frameRecorded                           // number: of the question; data: 4 bytes of a rank; frameRing is the answer

	// To the launcher.
	frameReady     // Ready: the agent is there
	frameStarted   // started
	frameEnded     // supervise.RankEnded
	frameStopped   // supervise.RankStopped
	frameDebugged  // supervise.RankDebugged
	frameOutput    // number: stream; bytes; none: its end
	frameInputDone // number: bytes of the input that were taken; negative: no more is wanted
	frameFinished  // nothing is left
	frameLog       // text
	frameDemand    // Demand of a node
	frameRows      // number: of the question; rowsFrame
	framePong      // number: of the question; pong
	frameRing      // number: of the question; bytes that a rank has recorded; none: it has not
)

// An Order is what an agent is to do.
type Order struct {
	Program string // path here; empty: it follows in frames
	Name    string // argument 0
	Title   string // as the user wrote it
	Args    []string
	Env     []string // the launcher's, without what belongs to its host
	Added   []string
	Dir     string
	AnyDir  bool // start where the agent is if there is no Dir here

	Bind             int // to a core of its own, if it is not 0
	Grace, StopLimit time.Duration

	First base.Rank
	Size  int        // ranks of the job
	Ranks [][]string // own variables of each rank
	Reads bool       // the first rank gets input

	// Measures is the number of ranks of the job if the ranks are to measure connections and processors,
	// else 0.
	Measures int

	// Identities make each rank itself: with the job's key, which the agent has and no
	// frame carries, they are the file that it inherits.
	Identities []string

	// Slots is how many records each rank keeps for the timeline; 0 if nothing is recorded.
	Slots int

	// Debug are the ranks, of all hosts, that are started in a debugger.
	Debug []base.Rank

	// Key is the key of the job. A node gets it over a sealed connection, after it has proven
	// that it holds the key of all jobs of that node.
	Key string
}

// A Ready is the first word of an agent.
type Ready struct {
	Host    string // what the host calls itself
	PID     int
	Cores   int
	Reached string      // the address of the launcher that worked
	Node    *Enlistment // nil for the agent of a host
}

// A started says how the start of the ranks went.
type started struct {
	PIDs    []int  // 0: not started
	Problem string // why not all were
	Because obstacle
}

// An obstacle is the kind of a supervise.StartError on its way.
type obstacle int

const (
	otherObstacle obstacle = iota
	noProgram
	unfitProgram
	noDirectory
)

// obstacles are the kinds, index is the obstacle.
var obstacles = [...]error{nil, executable.ErrNotFound, executable.ErrNotExecutable, executable.ErrNoDirectory}

// obstacleOf is the kind of an error of a start.
func obstacleOf(err error) obstacle {
	for i, kind := range obstacles {
		if kind != nil && errors.Is(err, kind) {
			return obstacle(i)
		}
	}
	return otherObstacle
}

// The data of a frameLook, if rows are not all that is wanted.
const (
	wantMeasures = 1 + iota
	wantTables
)

// A rowsFrame is what the ranks of a host tell of themselves.
type rowsFrame struct {
	Now  time.Time // by the clock of the host, as all times in the rows
	Rows []status.RankRow

	Measured []netstat.Measures     // if they were asked for
	Kernel   supervise.KernelReport // likewise
	Tables   [][]byte               // as package status has them; nil unless they are wanted
}

// A pong says when a ping has arrived and was answered, by the monotonic clock of the host.
type pong struct{ Arrived, Answered int64 }

// encode returns v for a frame.
func encode(kind talk.FrameKind, number int32, v any) talk.Frame {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(fmt.Sprintf("agent: %T cannot be encoded: %v", v, err))
	}
	return talk.Frame{Kind: kind, Number: number, Data: b.Bytes()}
}

// decode reads what encode has made of a T.
func decode[T any](f talk.Frame) (v T, err error) {
	if err := gob.NewDecoder(bytes.NewReader(f.Data)).Decode(&v); err != nil {
		return v, fmt.Errorf("malformed message of kind %d: %w", f.Kind, err)
	}
	return v, nil
}
