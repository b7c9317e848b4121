// Package netstat is how a rank tells what its connections and processors did: rows in a memory file
// that the launcher of its host makes, and the rank inherits, where somebody has asked for it.
//
// The rank alone writes its row, from time to time, by a goroutine that asks the system. No operation
// does anything for it. The package knows neither sockets nor what a reader makes of a row.
package netstat
