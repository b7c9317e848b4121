package launcher

import (
	"fmt"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// lookPatience is how long the agent of a host may take to say what its ranks do.
const lookPatience = 2 * time.Second

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

// Rows asks the agent. Where it does not answer in time the rows are those of its last answer, by
// which the ranks look silent soon.
func (r *remote) Rows() []status.RankRow {
	rows, _, _ := r.look(nil)
	return rows
}

// Measured asks the agent, if the ranks were asked to measure.
func (r *remote) Measured() ([]netstat.Measures, supervise.KernelReport) {
	if !r.job.cfg.Measure {
		return nil, supervise.KernelReport{}
	}
	_, measured, _ := r.look([]byte{wantMeasures})
	r.looks.mu.Lock()
	defer r.looks.mu.Unlock()
	return measured, r.looks.kernel
}

// Tables asks the agent, as Rows does.
func (r *remote) Tables() [][]byte {
	_, _, tables := r.look([]byte{wantTables})
	return tables
}

// look asks the agent, with the data of a frameLook.
func (r *remote) look(data []byte) ([]status.RankRow, []netstat.Measures, [][]byte) {
	r.question(frameLook, data, lookPatience)
	return r.looks.latest()
}

// told takes an answer.
func (r *remote) told(f talk.Frame) error {
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
		row.Waits[i].Since = row.Waits[i].Since.Add(by)
	}
}
