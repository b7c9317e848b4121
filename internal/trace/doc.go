// Package trace is how a rank records what it did and when: a ring of fixed size per rank, in a
// memory file that the launcher of its host makes and the ranks inherit.
//
// The rank alone writes its ring, and overwrites what is oldest when it is full. Launcher or agent
// reads it when the rank has ended, however it has. The package knows neither what records mean
// together nor the clocks of other hosts.
package trace
