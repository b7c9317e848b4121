//go:build race

package torture

// defaultTransports are those that the race detector understands: see section 10 of
// MEMORY_MODEL.md.
const defaultTransports = "loopback"
