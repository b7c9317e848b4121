// Package beside measures the runtime beside peers, the libraries of package peer, in
// rounds: in each of them every side runs once, in jobs of its own. It writes the rows
// that come out, and their comparison.
//
// It starts the ranks of the runtime by a function of its caller, and reads their rows.
package beside
