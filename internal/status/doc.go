// Package status is how a rank tells what it is doing: one row per rank, and one table of what it did
// with each peer, in a memory file that the launcher of its host makes and the ranks inherit.
//
// The rank alone writes its row; launcher, agent and others read it at any time and stop nobody. A
// row is written when a wait has lasted, when that wait ends, and by a timer, never in a call that
// does not wait. The package knows neither how a rank finds out what it waits for nor what a reader
// makes of it.
package status
