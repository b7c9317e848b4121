// Package price says how long a collective operation takes on a model machine, in two ways:
// by a discrete-event simulator of the schedules of all ranks, and by formulas of the same model
// that look at no schedule. It is pure and deterministic, so that all ranks that price a call
// with the same parameters choose the same algorithm; package collectives does so at run time, by
// formulas, and gaspi-bench measures the parameters.
//
// # The model
//
// A rank walks its lanes one step at a time, as the executor does: it stays in a
// lane until that must wait, and goes on with the next one that need not. A put to
// another node costs the CPU its overhead and then leaves through a port of the
// node, which sends a message at a time at its bandwidth; the first byte reaches the
// other node a latency later, and the message is there when a port of that node has
// taken it in, which also takes one message at a time, in the order of first bytes.
// Ports are full duplex. A put between ranks of one node is a copy by the CPU of the
// sender. Signals cost overhead and latency but no bandwidth, and overtake puts of
// other lanes and to other ranks; one right behind a put to another node goes with it for
// nothing. Where messages do not land by themselves, they also
// cost the CPU of the receiver, for each of them and for their bytes. Combining, copying
// and coding cost CPU, at rates of
// their own; what they read and write also passes through the memory of the host, one
// request at a time, so that all ranks together get its bandwidth. If a host has
// fewer cores than ranks, a rank holds a core until it must wait; ranks that want
// one queue for it, and take messages in only when they have one. Nodes are what shares
// memory, hosts what shares cores; they are the same unless the Load says otherwise. A
// run ends on a rank when all lanes have ended and the sources of its puts are free.
//
// # Formulas
//
// A Formula returns the stages of an algorithm: messages and folds that many ranks do alike, or
// the levels of a tree. Estimate adds up how long each takes on its longest path, or longer if
// the work of a rank, cores, ports or memory do not allow that. A Topology says which messages
// go between nodes. Segments follow each other as fast as what they share allows. Where ranks share
// cores, each pays for a turn when it begins and whenever it has to wait; of ranks that exchange
// something one comes last and does not wait. The tests of
// package choice compare all that with simulations: half of all candidates are within a few per
// cent, nine in ten within a fifth, and the 4,340 choices that they look at, of up to 256 ranks, are all within
// a tenth of the best. Formulas are worst where segments get in each other's way.
//
// # What it leaves out
//
// The network between the ports is a perfect switch without back-pressure. Ports have
// no limit of messages per second beyond the senders' CPU. The card's own reads and
// writes take no memory bandwidth. Caches are all or nothing: the buffers of a call fit
// or they do not. A core is never taken from a rank that works. Memory of a peer is as
// near as one's own. There is no jitter: stragglers and late arrivals are what the Load
// says they are.
package price
