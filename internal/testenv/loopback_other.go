//go:build !linux

package testenv

// needLoopback returns nil: only Linux has namespaces in which the loopback interface is down.
func needLoopback() error { return nil }
