//go:build !linux || portable

package cpu

// CanFenceAll reports whether FenceAll of other processes reaches this one. No other system has it.
func CanFenceAll() bool { return false }

// FenceAll is not called where CanFenceAll returns false.
func FenceAll() {}
