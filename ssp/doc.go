// Package ssp reduces vectors over the ranks of a group with bounded staleness:
// allreduce_ssp, Algorithm 1 of "Eventually consistent collectives". Iterative
// programs that converge anyway call it once per iteration and need not wait
// for the slowest rank in each.
//
// It is written with one-sided calls of package gaspi: writes with notification
// into slots of the receiver, and now and then a notification back.
//
// # What a result is
//
// Every rank counts its calls of AllReduce; the number is its clock and that of
// the contribution it passes, from 1. With slack s, the result of the call with
// clock c contains exactly one contribution of every rank: the caller's of this
// call, and of each other rank one with a clock of at least c-s. It is the newest that
// has made its way, so it may well have a clock above c. Result.Oldest
// and Result.Newest tell. A rank waits only for what is older than c-s, and before it returns
// until each of its neighbours has room for what that one needs in its own call with clock c,
// so that a rank which makes no further call delays nobody in the same one.
//
// With slack 0 it is an ordinary allreduce: every contribution is that of the
// same call, and all ranks get the same bits.
//
// In its first calls too a rank waits for one contribution of everybody, even
// where c-s is below 1. Algorithm 1 leaves open what "clock 0" holds; a sum
// that silently lacks some ranks would be a trap.
//
// Contributions that never went out because a newer one of the same rank took
// their place are skipped. A program that must not lose anything contributes totals and
// not increments: then what is late is late and not lost.
//
// # The end
//
// A rank that has called Close counts as if it went on calling AllReduce with its
// last contribution, which is from then on fresh for ever. So ranks may stop
// after different numbers of calls: the others go on, nobody hangs, and every
// result still has one contribution of every rank. A rank that never
// called AllReduce contributes nothing.
//
// # How it works
//
// The pattern is a hypercube: in step k, rank i and rank i XOR 2^k exchange what
// they have combined so far. Ranks beyond the largest power of two hand their
// contribution to one inside and get the rest back. That is ceil(log2 P) messages per
// rank and call, and one more on ranks that speak for another. A result takes
// up to log2 P hops, but each call may use what
// arrived before it, so hops cost staleness, and the bound on it holds for the sum
// of all hops.
//
// Every link has a constant number of slots on the receiver's side. A sender
// writes only slots that the receiver has released, so nobody ever reads a
// contribution that is half written, and nobody copies or checks one. A sender
// that finds no slot keeps its newest until there is one. It waits for that only where it would
// otherwise return with something that a neighbour needs for the call with the same clock.
//
// # Memory
//
// With m = n elements plus 64 bytes, rounded up to 64, and L links (log2 P, one
// more on a rank that speaks for another, one on a rank beyond the power of two),
// a rank holds L x 3 x m bytes with slack 0 and L x 4 x m with any other, whatever it is, and one
// to three vectors of n elements: the result, and where it speaks for another, two more.
package ssp
