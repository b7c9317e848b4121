// Package sys is the system below this module: descriptors, the clock that all processes share, and
// errors for what a system lacks. Packages below it are the rest: cpu, memory, process, socket and
// thread. Nothing else imports golang.org/x/sys/unix.
//
// Files portable.go are for systems other than Linux, where ranks are goroutines of one process
// (gaspi.Local): memory that one process maps, and waits of goroutines on channels, need nothing
// special. A feature that only Linux has returns the error of OnlyLinux, and never panics. With the
// build tag portable Linux takes these files too, for tests.
package sys
