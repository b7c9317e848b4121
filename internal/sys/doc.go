// Package sys is the only importer of golang.org/x/sys/unix: memory files,
// shared mappings, futexes, processes. Each file answers one question about the
// system; a feature that is missing is an error that matches
// base.ErrNotSupported by the caller's wrapping, never a panic.
package sys
