// Package hoplite is an object store on one-sided calls: objects have names, a Get brings
// one to where it is wanted, and a Reduce makes one out of many, as their sources come to
// be. The participants need not be known beforehand, and ranks may die.
//
//	s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 30})
//	err = hoplite.Put(ctx, s, "weights", w)                 // the store has a copy
//	w, err := hoplite.Get[float32](ctx, s, "weights")       // at any rank, before or after
//	used, err := hoplite.ReduceFirst[float32](ctx, s, "sum", ids, 4, hoplite.Sum)
//	err = s.Close(ctx)
//
// docs/HOPLITE.md states the promises of each call, also when ranks die. The protocol is
// package hoplite/internal/core, which does no I/O; this package carries its messages, moves
// its bytes and folds them, with the public calls of package gaspi alone. It knows nothing of
// collective operations.
//
// # Memory
//
// A rank has one segment: Config.Capacity bytes of objects, and two rings of messages per
// member, one in and one out: at most 4 MiB together and at least 16 KiB each. Nothing else
// grows with the size of objects. Messages that wait for room in a peer's ring are kept on the
// heap.
//
// # Goroutines
//
// A store has one goroutine of its own, and one for each queue to members that share no
// memory with this rank, at most 9. The caller that waits first does their work meanwhile.
// An idle store uses no processor time.
//
// All calls of a store may be made by many goroutines at a time. Several may open stores at a
// time, over one group with different tags; see Config.Tag.
package hoplite
