// Package collectives holds group operations: allreduce, broadcast, alltoall and
// the others, for any number of ranks, written with nothing but the one-sided
// calls of package gaspi. Algorithms are data (package schedule); this package
// chooses one, and package executor binds it to memory and runs it.
//
//	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
//	buf, err := collectives.Alloc[float32](ctx, team, n)              // in a segment: used in place by everybody
//	err = collectives.AllReduce(ctx, team, buf, collectives.Sum)      // any slice; one of Alloc is faster
//	plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum)
//	h, err := plan.Start(); ...; err = h.Wait(ctx)                    // again and again, without allocation
//
// # Calls match by order
//
// All members of a team make the same calls in the same order, with the same
// counts, types, roots and options. Buffers are all from Alloc, the same one at
// the same place in it, or all plain slices; it does not matter where empty ones lie.
// Two members that call different things both get an error that names both calls
// (gaspi.ErrMismatch), and the team is unusable until Reset. That holds for all calls that members
// make together but Agree and Shrink, which wait for members in other calls: revoke the team first.
//
// # Waiting
//
// An operation of Start goes on by itself, in a goroutine that the team has while one is under way and
// no call is made; Config.Progress says otherwise. Others make progress while any call of the team
// waits or tests. A call that blocks takes a context. When the context ends first, the operation is still under way, and the same call
// made again, or Wait of its handle, resumes it. Nothing is sent twice.
//
// As in MPI, the end of a call says that its buffers are the caller's again and hold the result, and
// nothing about other members but what follows from the result: of short vectors, the root of a
// Broadcast or Scatter, and the others in a Reduce or Gather, may be up to 256 calls ahead. A Barrier
// waits for all. So a mismatch, or the end of a member, may show in a later call.
//
// # Faults
//
// An operation with a member that died ends on all others with an error that
// names it (gaspi.ErrRankDead). A member may leave the job after its last call, also while
// others are still in theirs. An operation that waits for a member that left before making
// the call ends on all others with an error that names it and has RankError.Left.
//
// # Goroutines
//
// A Team, its plans and its handles are for one goroutine at a time: a call that meets
// another one gets gaspi.ErrInUse and has no effect. Each team has a group of its own, so
// that several goroutines use a team each without regard to each other, over one group or
// over several; see Config.Tag for making them at a time.
package collectives
