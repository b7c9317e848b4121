//go:build linux && !portable && !race

package socket

// before and after tell the race detector, where there is one, what a call reads
// and writes.
func (v *Vector) before()   {}
func (v *Vector) after(int) {}
