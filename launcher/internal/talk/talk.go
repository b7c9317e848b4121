// Package talk is what travels between the launcher and the agent of a host, over a control
// connection: frames, and streams that a reader who has stopped does not hold up.
//
// It knows neither ranks nor processes; what frames mean is package launcher's business.
package talk

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/control"
)

// goodbye is how long Close lets what is queued leave.
const goodbye = 2 * time.Second

// A Conn sends and receives frames. It borrows the payload of a frame until the frame is
// written, and that of one that is received belongs to the caller.
type Conn = control.Conn[Frame]

// unlimitedPeriod is the time between two signs of life where silence has no limit: they
// keep what lies between the hosts from forgetting the connection.
const unlimitedPeriod = 10 * time.Second

// New returns a Conn over conn, which it takes. It sends signs of life, and
// expects some: after limit without any, Receive fails; a limit of 0 is none.
func New(conn net.Conn, limit time.Duration) *Conn {
	c := control.New(conn, control.Protocol[Frame]{
		Encode: encode,
		Decoder: func(r io.Reader) func() (Frame, error) {
			return func() (Frame, error) { return readFrame(r) }
		},
		Beat:    Frame{Kind: ping},
		IsBeat:  func(f Frame) bool { return f.Kind == ping },
		Goodbye: goodbye,
	})
	h := control.Heartbeat{Period: max(limit/8, 10*time.Millisecond), Limit: limit}
	if limit == 0 {
		h.Period = unlimitedPeriod
	}
	c.Watch(h)
	return c
}

// encode returns a frame as header and payload. It panics if the payload does not fit.
func encode(f Frame) (net.Buffers, error) {
	if len(f.Data) > MaxData {
		panic(fmt.Sprintf("talk: frame with %d bytes; at most %d fit", len(f.Data), MaxData))
	}
	header := f.header()
	return net.Buffers{header[:], f.Data}, nil
}
