package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
	"github.com/gaspi-go/gaspi-go/launcher/internal/timeline"
)

// questions are those to an agent that it has not answered.
type questions struct {
	mu   sync.Mutex
	last int32                     // guarded by mu; number of the last question
	open map[int32]chan talk.Frame // guarded by mu; by its number, with room for the answer
}

func newQuestions() *questions { return &questions{open: map[int32]chan talk.Frame{}} }

// answer hands on an answer, unless nobody waits for it any more.
func (q *questions) answer(f talk.Frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.open[f.Number]; c != nil {
		c <- f
		delete(q.open, f.Number)
	}
}

// question asks the agent, and returns its answer; false if none comes in time, or nobody is there to
// give it.
func (r *Site) question(kind talk.FrameKind, data []byte, patience time.Duration) (talk.Frame, bool) {
	q, answered := r.questions, make(chan talk.Frame, 1)
	q.mu.Lock()
	q.last++
	number := q.last
	q.open[number] = answered
	q.mu.Unlock()
	r.sending.Lock()
	ordered := r.ordered
	if ordered {
		r.conn.Load().Send(talk.Frame{Kind: kind, Number: number, Data: data})
	}
	r.sending.Unlock()
	if ordered {
		select {
		case f := <-answered:
			return f, true
		case <-r.over:
		case <-time.After(patience):
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, number)
	return talk.Frame{}, false
}

// answerPatience is how long the agent of a host may take to say what it has at hand: what its ranks do, or
// its clock.
const answerPatience = 2 * time.Second

// looks are the answers of an agent to what its ranks do.
type looks struct {
	mu       sync.Mutex
	rows     []status.RankRow       // guarded by mu; of the last answer, in times of this host
	measured []netstat.Measures     // guarded by mu; of the last answer that had any
	kernel   supervise.KernelReport // guarded by mu; likewise
	tables   [][]byte               // guarded by mu; likewise
}

func newLooks(ranks int) *looks { return &looks{rows: make([]status.RankRow, ranks)} }

// answer takes the rows of an answer.
func (l *looks) answer(answer rowsFrame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = answer.Rows
	if answer.Measured != nil {
		l.measured, l.kernel = answer.Measured, answer.Kernel
	}
	if answer.Tables != nil {
		l.tables = answer.Tables
	}
}

// latest returns what the last answers were.
func (l *looks) latest() ([]status.RankRow, []netstat.Measures, [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows, l.measured, l.tables
}

// Rows returns what each rank tells of itself, in times of this host: it asks the agent. Where it does not answer in time the rows are those of its last answer, by
// which the ranks look silent soon.
func (r *Site) Rows() []status.RankRow {
	rows, _, _ := r.look(nil)
	return rows
}

// Measured asks the agent, if the ranks were asked to measure.
func (r *Site) Measured() ([]netstat.Measures, supervise.KernelReport) {
	if !r.launcher.Measure {
		return nil, supervise.KernelReport{}
	}
	_, measured, _ := r.look([]byte{wantMeasures})
	r.looks.mu.Lock()
	defer r.looks.mu.Unlock()
	return measured, r.looks.kernel
}

// Tables asks the agent, as Rows does.
func (r *Site) Tables() [][]byte {
	_, _, tables := r.look([]byte{wantTables})
	return tables
}

// look asks the agent, with the data of a frameLook.
func (r *Site) look(data []byte) ([]status.RankRow, []netstat.Measures, [][]byte) {
	r.question(frameLook, data, answerPatience)
	return r.looks.latest()
}

// told takes an answer.
func (r *Site) told(f talk.Frame) error {
	answer, err := decode[rowsFrame](f)
	if err != nil {
		return err
	}
	if len(answer.Rows) != r.Ranks || answer.Measured != nil && len(answer.Measured) != r.Ranks {
		return fmt.Errorf("it has told of %d ranks, not %d", len(answer.Rows), r.Ranks)
	}
	if answer.Tables != nil && len(answer.Tables) != r.Ranks {
		return fmt.Errorf("it has told of the peers of %d ranks, not %d", len(answer.Tables), r.Ranks)
	}
	behind := time.Since(answer.Now)
	for i := range answer.Rows {
		shift(&answer.Rows[i], behind)
	}
	r.looks.answer(answer)
	r.questions.answer(f)
	return nil
}

// shift moves the times of a row.
func shift(row *status.RankRow, by time.Duration) {
	if row.Beat.IsZero() {
		return
	}
	row.Joined, row.Beat, row.Moved = row.Joined.Add(by), row.Beat.Add(by), row.Moved.Add(by)
	for i := range row.Waits {
		w := &row.Waits[i]
		if w.Since = w.Since.Add(by); !w.Until.IsZero() {
			w.Until = w.Until.Add(by)
		}
	}
}

// Of the questions about the timeline of a host: how long its agent may take to send what a rank has
// recorded, and how many pings there are, of which the quickest counts.
const (
	recordPatience = 30 * time.Second
	pings          = 8
)

// Recorded asks the agent.
func (r *Site) Recorded(n base.Rank) ([]byte, error) {
	index := binary.LittleEndian.AppendUint32(nil, uint32(n-r.First))
	f, ok := r.question(frameRecorded, index, recordPatience)
	switch {
	case !ok:
		return nil, errors.New(r.title() + " does not answer")
	case len(f.Data) == 0:
		return nil, nil
	}
	return f.Data, nil
}

// Clock returns how far the clock of the host is ahead; false if it does not answer.
func (r *Site) Clock() (timeline.Offset, bool) {
	var all []timeline.Ping
	for range pings {
		sent, err := sys.Monotonic()
		f, ok := r.question(framePing, nil, answerPatience)
		received, wrong := sys.Monotonic()
		if err != nil || wrong != nil || !ok {
			break
		}
		p, err := decode[pong](f)
		if err != nil {
			break
		}
		all = append(all, timeline.Ping{Sent: sent, Arrived: p.Arrived, Answered: p.Answered, Received: received})
	}
	return timeline.Measure(all), len(all) > 0
}
