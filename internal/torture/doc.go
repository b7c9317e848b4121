// Package torture runs random programs against the public interface of this module, by
// seed, and compares everything that it sees with a model.
//
// A job is N ranks that run rounds until its time is over. Each rank draws the plan of a
// round from the seed, the same on all of them, and its own choices from seed and rank. A
// round is one family, or several of them at the same time:
//
//	memory         writes, reads, lists and notifications of all kinds; data before flag
//	anew           segments made one after the other under one id, written to at once
//	recreate       segments that are deleted and made again while peers write to them
//	atomics        all eight, on shared words: nothing lost, done twice, or out of date
//	passive        messages: received are exactly those whose send returned nil
//	notifications  each value is handed out once, by every kind of wait
//	groups         subgroups, barriers, the small reductions
//	collectives    every operation of package collectives; vforms are those with blocks
//	               of different lengths, forced those with an algorithm by name
//	teams          teams that are split and shrunk at the same time, and Splits that end early
//	stale          reductions of package ssp: which contributions are in a result
//	objects        the store of package hoplite
//	together       several of these in goroutines of their own, over groups of their own
//	refusals       arguments that make no sense: the documented error, and nothing harmed
//	edges          arguments at the limits of what makes sense
//
// The models come from the promises in MEMORY_MODEL.md, GASPI.md, HOPLITE.md and the
// package comments, and not from the code. Numbers are integers, or floats that are exact,
// so that nothing needs a tolerance. Most calls that take a context are cut short now and
// then, by contexts that have ended or end soon, and made again.
//
// No rank dies here: a context that ends is the only fault.
//
// A family proves that it finds something by mutants: places where, if asked, it harms what
// it has seen or does (mutants.go). The tests are in torture_test.go, which starts ranks as
// goroutines, as processes of this host, and on hosts made of network namespaces:
//
//	go test ./internal/torture -run '^TestTorture$' -count=1 -v -timeout 0 \
//		-duration 1h -transports shm,tcp,mixed -seed 1
//
// A failure prints the seed, the round, the rank, the family, what was expected, what was
// seen, and the command that runs the same job again.
package torture
