// Package thread is about threads: the cores that they may run on, and how they wait, on a futex or
// until a time.
package thread
