// Package schedule is the language of collective operations: what one rank
// does, as data. An algorithm is a pure function from a call and a rank to a
// schedule; package prove checks the schedules of all ranks against each other,
// package price says how long they take on a given machine, and package
// collectives runs them. Nothing here does I/O, starts a goroutine or keeps state.
//
// # What a schedule means
//
//	put(src, peer, dst, slot)  borrow src, write it to dst at the peer, then post the slot's next value there
//	signal(peer, slot)         post the slot's next value there, after all earlier puts of the lane to that peer
//	await(slot, k)             go on when the slot has been posted k times in this run
//	put apart, await apart     dst has cache lines of its own, which the post may lie in too; the await names dst
//	combine(dst..., src...)    fold the sources in order and store the result in every dst; of one source: copy
//	encode, decode             copy to and from a coded form, which is shorter on the wire
//	flush                      sources of the lane's earlier puts are free
//	credit(peer, slot)         in the last run of a batch: flush, and post the slot there
//	await-credit(slot)         in the first run of a batch: go on when the copy that this run uses is free
//
// The steps of a lane happen in order. Lanes of a rank are not ordered among
// each other. A post happens before the await that counts it; the data of a put
// is there when its own post is seen, or one by a later signal. Two puts of one
// lane are not ordered by themselves. A run of a plan happens after the rank's
// previous run of it, and between two runs the caller reads its output and
// writes its input anew. All regions are in elements, whatever their size.
//
// Every slot has one writer, and at the end of a run each rank has awaited every
// post that it gets in that run, but for credits, which it awaits some runs later. Posts to a slot are in order: one is issued only
// when an earlier one is known to have arrived, or is a signal of the same lane.
// Those three are what prove demands beside the result and the absence of races;
// they let a slot be an ordinary absolute notification that is never reset.
package schedule
