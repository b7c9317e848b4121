// Package prove checks the schedules of all ranks of a call against each other.
// It runs them symbolically, several runs back to back without a barrier
// between, and refuses whatever some timing could turn into a wrong result. Package schedule
// defines the meaning of steps. The demands are:
//
//   - Form: regions lie in their buffers, peers and slots exist, lengths agree,
//     and only memory is touched that Options allow. No cache line of memory that is put
//     apart is written by another step, and who awaits it names it.
//   - Progress: every await is satisfied at last. Slots are counters, so it does
//     not matter in which order lanes go on.
//   - Slots: one rank posts to a slot; a rank awaits in a run what is posted to
//     it in that run, credits in a later one; posts to a slot arrive in the order in which they were
//     issued, which is that of lanes, so that it can be told without running.
//   - Races: two accesses to one element, one of them a write, are ordered by what
//     their ranks know and not by chance.
//   - Contents: at the end of every run the results hold what the operation says,
//     every contribution once, and nothing else of the caller's has changed.
//
// # What a rank knows
//
// A lane knows its own earlier steps, and what those knew whose posts it has
// awaited. Of a put, whoever awaits its own post, or that of a later signal of
// its lane to the same peer, knows that it is complete; its own lane knows after
// a flush that its source is free. A run ends with a flush of all lanes. Between
// two runs the caller reads and writes all its vectors, its results too: they are
// its own again. A lane is the same queue in all runs, so that its signals come
// after what it posted in earlier runs.
//
// # How it is found out
//
// Runs are walked one after the other in some order that the posts allow. In
// this order an access can only race with one that came before it, so it is enough
// to keep, for every element, the last write and the reads since, and to ask
// whether the accessing lane knows that they have ended. Knowledge is a vector
// clock with an entry per lane. The completion of a put is not an event of
// any lane; it is known where one of the awaits is known that tell it.
package prove
