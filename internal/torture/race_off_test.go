//go:build !race

package torture

const defaultTransports = "loopback,shm,tcp"
