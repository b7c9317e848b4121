// Package faults tests each call that blocks against each fault: who must get which
// error, naming whom, within what time, and who must get none.
//
// It consists of tests alone. A row is a call, with what it needs; rows of the packages
// are in files of their own, and a test finds exported functions that take a context and
// have no row. In bubbles of testing/synctest the ranks are goroutines whose network a
// test breaks (package faulty), thousands of times with random moments; elsewhere they are
// processes, on this host and on hosts that are network namespaces.
package faults
