// Package collective measures the operations of package collectives and the barrier of the
// runtime: it makes vectors of every type of elements, the calls on them, their bare
// limits, and the contents by which results are checked.
//
// It does not know the command line, which fills a Spec.
package collective
