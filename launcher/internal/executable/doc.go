// Package executable finds, builds and judges the program of a job: what a user has named, a
// memory file with what the go command makes of a package, a copy of the program that has come
// from another host, and the sentence that says why a file cannot be executed.
//
// It knows nothing of ranks: package supervise starts them.
package executable
