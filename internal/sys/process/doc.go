// Package process is about processes as wholes: the namespaces and program files that they start
// with, their ends, their orphans, and what they use of processors.
package process
