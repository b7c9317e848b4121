// Package sim runs the cores of package core in one thread: all ranks of a job, their
// memory, the links between them, and the programs on top. It has two uses.
//
// An exploration is made from a seed. Messages and puts take times of their own,
// programs put, get, reduce and delete at random, ranks die at any moment, stores are
// far too small. Contents are real bytes, so whatever is written into the wrong place,
// counted twice or left out shows; the protocol's invariants are looked at between
// steps, and at the end every call must have ended and every store must be empty. The seed of what
// fails is printed:
//
//	go test ./hoplite/internal/sim -run TestExplore -seeds 1000000 -timeout 0
//	go test ./hoplite/internal/sim -run TestExplore -v -seed 728
//	go test ./hoplite/internal/sim -run TestHistories -histories 20000
//	go test -tags mutants ./hoplite/internal/...
//
// A timing has links of bandwidth B and latency L and one network card per rank. It
// tells how long a broadcast or a reduction takes, for comparison with their bounds.
package sim
