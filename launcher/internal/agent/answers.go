package agent

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// mostTables is how many bytes of tables an answer has at most, which leaves room for rows.
const mostTables = talk.MaxData / 2

// look answers what the ranks do.
func (a *Agent) look(f talk.Frame) {
	answer := rowsFrame{Now: time.Now(), Rows: a.local.Rows()}
	switch {
	case len(f.Data) == 0:
	case f.Data[0] == wantMeasures:
		answer.Measured, answer.Kernel = a.local.Measured()
	case f.Data[0] == wantTables:
		answer.Tables = a.local.Tables()
		size := 0
		for i, t := range answer.Tables {
			if size += len(t); size > mostTables {
				answer.Tables[i] = nil
			}
		}
	}
	a.conn.Send(encode(frameRows, f.Number, answer))
}

// pong answers a ping.
func (a *Agent) pong(number int32) talk.Frame {
	now, err := sys.Monotonic()
	if err != nil {
		a.log(fmt.Sprintf("the clock of the timeline: %v", err))
	}
	return encode(framePong, number, pong{Arrived: now, Answered: now})
}

// sendRecorded sends what a rank has recorded.
func (a *Agent) sendRecorded(f talk.Frame) error {
	if len(f.Data) != 4 || binary.LittleEndian.Uint32(f.Data) >= uint32(len(a.order.Ranks)) {
		return fmt.Errorf("question %x for what a rank has recorded; expected one of %d ranks", f.Data, len(a.order.Ranks))
	}
	r := a.order.First + base.Rank(binary.LittleEndian.Uint32(f.Data))
	b, err := a.local.Recorded(r)
	if err != nil {
		a.log(fmt.Sprintf("what rank %d has recorded is not known: %v", r, err))
		b = nil
	}
	a.conn.Send(talk.Frame{Kind: frameRing, Number: f.Number, Data: b})
	return nil
}
