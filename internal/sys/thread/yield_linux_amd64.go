//go:build !portable

package thread

// Yield lets another thread of this core run. It does not tell the Go scheduler. It calls the system itself: the
// processor predicts no return after a switch between processes, and each function that lies between has one.
func Yield()
