package agent

import (
	"encoding/binary"
	"os"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// A relay carries the standard files of an agent's ranks over its connection.
type relay struct {
	conn  *talk.Conn
	begun <-chan struct{} // closed when the launcher has been told that the ranks run
	first base.Rank
	reads bool // the first rank gets input

	input   *talk.Inflow
	credits []*talk.Credit // index is the stream
	outputs stdio.Pipes
	mu      sync.Mutex
	opened  []bool   // index is the stream; guarded by mu
	stdin   *os.File // our end of the input, or nil; guarded by mu
}

func newRelay(conn *talk.Conn, o Order, begun <-chan struct{}) *relay {
	r := &relay{conn: conn, begun: begun, first: o.First, reads: o.Reads, input: talk.NewInflow()}
	for range 2 * len(o.Ranks) {
		r.credits = append(r.credits, talk.NewCredit())
		r.opened = append(r.opened, false)
	}
	return r
}

// files opens the standard files of rank number n.
func (r *relay) files(n base.Rank) (*stdio.Files, error) {
	var stdin func(*stdio.Files) (*os.File, error)
	if n == r.first && r.reads {
		stdin = r.openInput
	}
	return stdio.OpenFiles(stdin, func(kind string, f *stdio.Files) (*os.File, error) {
		stream := 2 * int(n-r.first)
		if kind == "stderr" {
			stream++
		}
		return r.openOutput(stream, f)
	})
}

func (r *relay) openOutput(stream int, f *stdio.Files) (*os.File, error) {
	theirs, err := r.outputs.Open(outflow{r, stream}, f)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened[stream] = true
	return theirs, nil
}

// endUnopened ends the outputs of ranks that were not started: the launcher waits
// for the end of each.
func (r *relay) endUnopened() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for stream, opened := range r.opened {
		if !opened {
			outflow{r, stream}.End()
		}
	}
}

// openInput makes the pipe through which the first rank reads.
func (r *relay) openInput(f *stdio.Files) (*os.File, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs.Fd() // blocking, as a program expects its standard input
	f.Own(theirs)
	r.mu.Lock()
	r.stdin = ours
	r.mu.Unlock()
	go r.inputLoop(ours)
	return theirs, nil
}

// inputLoop hands on what comes for the first rank, until it closes its input.
func (r *relay) inputLoop(to *os.File) {
	defer to.Close()
	for {
		piece := r.input.Next()
		if piece == nil {
			return
		}
		if _, err := to.Write(piece); err != nil {
			r.conn.Send(talk.Frame{Kind: frameInputDone, Number: -1})
			return
		}
		r.conn.Send(talk.Frame{Kind: frameInputDone, Number: int32(len(piece))})
	}
}

// taken notes that the launcher has passed on so much of a stream.
func (r *relay) taken(f talk.Frame) {
	if len(f.Data) == 4 && f.Number >= 0 && int(f.Number) < len(r.credits) {
		r.credits[f.Number].Add(int(binary.LittleEndian.Uint32(f.Data)))
	}
}

// close drops what is still under way.
func (r *relay) close() {
	for _, c := range r.credits {
		c.Close()
	}
	r.input.Close()
	r.outputs.Hurry()
	r.outputs.Wait()
	r.outputs.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stdin != nil {
		r.stdin.SetWriteDeadline(time.Now())
	}
}

// An outflow is the sink of one output: it sends what the launcher has room for.
type outflow struct {
	relay  *relay
	stream int
}

// Feed sends the next bytes of the output, and blocks while the launcher has no room for them.
func (o outflow) Feed(p []byte) {
	<-o.relay.begun // a rank is heard of before it is heard
	for len(p) > 0 {
		n := o.relay.credits[o.stream].Take(len(p))
		if n == 0 {
			return // the job is over
		}
		o.relay.conn.Send(talk.Frame{Kind: frameOutput, Number: int32(o.stream), Data: append([]byte(nil), p[:n]...)})
		p = p[n:]
	}
}

// End sends the end of the output.
func (o outflow) End() {
	o.relay.conn.Send(talk.Frame{Kind: frameOutput, Number: int32(o.stream)})
}
