package launcher

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
	"github.com/gaspi-go/gaspi-go/launcher/internal/timeline"
)

// Of the questions about the timeline of a host: how long its agent may take to answer a ping, and to
// send what a rank has recorded, and how many pings there are, of which the quickest counts.
const (
	pingPatience   = 2 * time.Second
	recordPatience = 30 * time.Second
	pings          = 8
)

// Recorded asks the agent.
func (r *remote) Recorded(n Rank) ([]byte, error) {
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

// clock returns how far the clock of the host is ahead; false if it does not answer.
func (r *remote) clock() (timeline.Offset, bool) {
	var all []timeline.Ping
	for range pings {
		sent, err := sys.Monotonic()
		f, ok := r.question(framePing, nil, pingPatience)
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

// pong answers a ping.
func (a *agent) pong(number int32) talk.Frame {
	now, err := sys.Monotonic()
	if err != nil {
		a.log(fmt.Sprintf("the clock of the timeline: %v", err))
	}
	return encode(framePong, number, pong{Arrived: now, Answered: now})
}

// sendRecorded sends what a rank has recorded.
func (a *agent) sendRecorded(f talk.Frame) error {
	if len(f.Data) != 4 || binary.LittleEndian.Uint32(f.Data) >= uint32(len(a.order.Ranks)) {
		return fmt.Errorf("question %x for what a rank has recorded; expected one of %d ranks", f.Data, len(a.order.Ranks))
	}
	r := a.order.First + Rank(binary.LittleEndian.Uint32(f.Data))
	b, err := a.local.Recorded(r)
	if err != nil {
		a.log(fmt.Sprintf("what rank %d has recorded is not known: %v", r, err))
		b = nil
	}
	a.conn.Send(talk.Frame{Kind: frameRing, Number: f.Number, Data: b})
	return nil
}
