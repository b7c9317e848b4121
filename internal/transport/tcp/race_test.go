//go:build race

package tcp

// raceDetector reports whether the race detector watches.
const raceDetector = true
