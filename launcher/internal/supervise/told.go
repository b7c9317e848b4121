package supervise

import (
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// told are the files that ranks inherit to tell of themselves in; nil where there is none.
type told struct {
	status   *os.File // what they do, a row for each
	measures *os.File // what connections and processors do, likewise
	trace    *os.File // what they did, a ring for each
}

// openTold makes the files that a task asks for. It logs why one cannot be.
func openTold(t Task) (f told) {
	if t.JobRanks == 0 {
		return f
	}
	ranks := len(t.Own)
	file := func(name string, size int64, why string) *os.File {
		fd, err := memory.Create("gaspi-"+name, size)
		if err != nil {
			t.Log(fmt.Sprintf("%s: %v", why, err))
			return nil
		}
		return os.NewFile(uintptr(fd), name)
	}
	f.status = file("status", status.FileSize(ranks, t.JobRanks), "ranks cannot tell what they do")
	if t.Measure {
		f.measures = file("measures", int64(ranks)*netstat.RowSize(t.JobRanks), "ranks cannot tell what connections and processors do")
	}
	if t.Slots > 0 {
		var err error
		if f.trace, err = trace.NewFile(ranks, t.Slots); err != nil {
			t.Log(fmt.Sprintf("ranks cannot record what they do: %v", err))
		}
	}
	return f
}

func (f told) close() {
	for _, file := range []*os.File{f.status, f.measures, f.trace} {
		if file != nil {
			_ = file.Close()
		}
	}
}

// Rows returns what each rank tells of itself, as of now; the zero RankRow of one that has told nothing.
func (a *Ranks) Rows() []status.RankRow {
	rows := make([]status.RankRow, len(a.ranks))
	if a.told.status == nil {
		return rows
	}
	for i := range rows {
		row, err := status.Read(a.told.status, i)
		if err == nil {
			rows[i] = row
		} else if err != status.ErrNone {
			a.task.Log(fmt.Sprintf("what rank %d does is not known: %v", a.ranks[i].number, err))
		}
	}
	return rows
}

// Measured returns what each rank has measured of connections and processors, and the kernel of each rank; nil
// where ranks were not asked to, and the zero value of one that has told nothing.
func (a *Ranks) Measured() ([]netstat.Measures, KernelReport) {
	if !a.task.Measure {
		return nil, KernelReport{}
	}
	return a.measures(), a.probe.report(a.PIDs())
}

func (a *Ranks) measures() []netstat.Measures {
	if a.told.measures == nil {
		return nil
	}
	rows := make([]netstat.Measures, len(a.ranks))
	for i := range rows {
		row, err := netstat.Read(a.told.measures, i, a.task.JobRanks)
		if err == nil {
			rows[i] = row
		} else if !netstat.IsNone(err) {
			a.task.Log(fmt.Sprintf("what connections and processors of rank %d did is not known: %v", a.ranks[i].number, err))
		}
	}
	return rows
}

// Tables returns what each rank has done with its peers, as package status has it; nil of one that has told
// nothing.
func (a *Ranks) Tables() [][]byte {
	tables := make([][]byte, len(a.ranks))
	if a.told.status == nil {
		return tables
	}
	for i := range tables {
		if b, err := status.ReadTable(a.told.status, i, len(a.ranks), a.task.JobRanks); err == nil {
			tables[i] = b
		}
	}
	return tables
}

// Recorded returns what a rank that has ended has recorded, nil if nothing is recorded.
func (a *Ranks) Recorded(r base.Rank) ([]byte, error) {
	if a.told.trace == nil {
		return nil, nil
	}
	return trace.Image(a.told.trace, int(r-a.task.First))
}
