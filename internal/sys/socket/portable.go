//go:build !linux || portable

package socket

import (
	"net"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// vectorMost is how many pieces of memory a Vector holds.
const vectorMost = 32

const tcpFeature = "the transport over TCP"

// Events is empty: there is no Poller.
type Events struct{}

// Len is 0.
func (*Events) Len() int { return 0 }

// At is not called: there are no events.
func (*Events) At(int) (key int, in, out bool) { return 0, false, false }

// A Poller says which of many descriptors can be read or written. There is none:
// NewPoller returns an error.
type Poller struct{}

// NewPoller returns an error.
func NewPoller() (*Poller, error) { return nil, sys.OnlyLinux(tcpFeature) }

// Add returns an error.
func (*Poller) Add(int, int, bool) error { return sys.OnlyLinux(tcpFeature) }

// Watch returns an error.
func (*Poller) Watch(int, int, bool) error { return sys.OnlyLinux(tcpFeature) }

// Remove does nothing.
func (*Poller) Remove(int) {}

// Look finds nothing.
func (*Poller) Look(*Events) int { return 0 }

// Await finds nothing.
func (*Poller) Await(*Events) int { return 0 }

// Wake does nothing.
func (*Poller) Wake() {}

// Close does nothing.
func (*Poller) Close() {}

// Take returns an error.
func Take(*net.TCPConn, Tuning) (int, error) { return -1, sys.OnlyLinux(tcpFeature) }

// Set does nothing.
func Set(*net.TCPConn, Tuning) {}

// Delay does nothing.
func Delay(int, bool) {}

// AcknowledgeNow does nothing.
func AcknowledgeNow(int) {}

// CheckCongestion accepts every name: there are no connections between ranks.
func CheckCongestion(string) error { return nil }

// Unsent returns an error.
func Unsent(int) (int, error) { return 0, sys.OnlyLinux(tcpFeature) }

// UnsentOf returns an error.
func UnsentOf(*net.TCPConn) (int, error) { return 0, sys.OnlyLinux(tcpFeature) }

// ResetOnClose does nothing.
func ResetOnClose(int) {}

// Silent returns an error.
func Silent(int, time.Duration) (bool, error) { return false, sys.OnlyLinux(tcpFeature) }

// ConnSilent returns an error.
func ConnSilent(*net.TCPConn, time.Duration) (bool, error) { return false, sys.OnlyLinux(tcpFeature) }

// Measure returns an error.
func Measure(int) (Metrics, error) { return Metrics{}, sys.OnlyLinux(tcpFeature) }

// MeasureConn returns an error.
func MeasureConn(*net.TCPConn) (Metrics, error) { return Metrics{}, sys.OnlyLinux(tcpFeature) }

// A Vector is memory that one call sends or receives into. No call does so here.
type Vector struct{ n, bytes int }

// Reset empties the vector.
func (v *Vector) Reset() { *v = Vector{} }

// Add appends b, unless it is empty. It reports whether there was room.
func (v *Vector) Add(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if v.n == vectorMost {
		return false
	}
	v.n++
	v.bytes += len(b)
	return true
}

// Len is the number of bytes in the vector.
func (v *Vector) Len() int { return v.bytes }

// Send returns an error.
func (*Vector) Send(int) (int, syscall.Errno) { return 0, syscall.ENOTSUP }

// Receive returns an error.
func (*Vector) Receive(int) (int, syscall.Errno) { return 0, syscall.ENOTSUP }
