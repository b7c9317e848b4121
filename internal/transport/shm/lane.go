package shm

import (
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A lane file is where peers ask its owner to move bytes into and out of memory
// that they cannot map: that of bound segments. It is laid out as a segment of
// its own, made by the owner, mapped by peers on first use:
//
//	| array: a word per station, then the word "closed" | pad to page | stations of rank 0 | of rank 1 | ... |
//
// Every rank has stationsPerPeer stations there. One carries one request at a
// time, and each of its parts has one writer, client or owner:
//
//	| reply array: wake word, one word; 128 bytes (owner) | request: 64 bytes (client) | answer: 64 bytes (owner) | bounce: 64 KiB |
//
// A station that nobody used has no pages, so a lane file costs what is used of
// it, to the next page.
//
// Why no byte is seen before it is written: the client fills request and bounce
// and then posts the station's word on the array; the owner takes that word by
// Reset and then reads them (Post pairs with Reset). The owner does what it was
// asked to, fills answer and bounce, and then posts the reply word; the client
// waits for that word and then reads them (Post pairs with the load in Wait). The
// client writes neither request nor bounce again before it has seen the reply to
// the last request, or taken that back: Reset gives the word to one of the two,
// so a request that the client took back was never begun. A notification that
// the client posts after the reply is behind the owner's copy for the same
// reason: the orders of two posts in a row add up for whoever sees the second.
//
// The other way to reach a process's heap, process_vm_writev, was not taken: it
// needs a right that common settings of ptrace_scope deny between siblings, and
// nothing keeps it from writing after the owner has withdrawn the memory.
const (
	// While the owner copies one, others are filled. Two would do if both sides
	// always had a core: with four, puts of 1 MiB took half as long on a machine
	// whose cores had other work, too.
	stationsPerPeer = 4
	// 32 and 128 KiB are hardly slower; at 16 KiB the turns begin to cost.
	bounceBytes = 64 << 10

	requestAt    = 128 // behind the reply array, whose one word is in its second cache line
	answerAt     = requestAt + 64
	bounceAt     = answerAt + 64
	stationBytes = bounceAt + bounceBytes
)

// laneSize is what segment.Create and Open are told for a lane file.
func laneSize(ranks int) (bytes uint64, words uint32) {
	return uint64(ranks) * stationsPerPeer * stationBytes, uint32(closedWord(ranks)) + 1
}

// closedWord is the notification that says that the owner takes no requests.
func closedWord(ranks int) notify.ID { return notify.ID(ranks * stationsPerPeer) }

// stationID is the number of station i of rank r: its place, and its word on the
// array.
func stationID(r base.Rank, i int) notify.ID { return notify.ID(int(r)*stationsPerPeer + i) }

// clientOf is the rank that station id belongs to.
func clientOf(id notify.ID) base.Rank { return base.Rank(id / stationsPerPeer) }

// A station is one process's view of a station. It is valid while file is
// reachable.
type station struct {
	id      notify.ID
	request []atomic.Uint64
	answer  []atomic.Uint64
	reply   *notify.Array
	bounce  []byte

	// sent is the value of the last request, used by the client alone, who
	// holds the station. The reply has the same, so that an old one is not taken
	// for it.
	sent notify.Value
}

// stationAt lays station id over file. wait is how replies are waited for, nil at
// the owner, who only posts them.
func stationAt(file *segment.Segment, id notify.ID, wait *notify.WaitPolicy) *station {
	at := uint64(id) * stationBytes
	mem := file.All().Bytes()[at : at+stationBytes]
	return &station{
		id:      id,
		request: wordsOf(mem[requestAt:answerAt]),
		answer:  wordsOf(mem[answerAt:bounceAt]),
		reply:   notify.NewArray(mem[:requestAt], 1, wait),
		bounce:  mem[bounceAt:],
	}
}

// An opcode is what a request asks for. Those from opAtomic on are opAtomic
// plus a transport.AtomicOp.
type opcode uint64

const (
	opPut    opcode = iota + 1 // bounce to memory
	opGet                      // memory to bounce
	opAtomic                   // on a word of the memory
	opEnd    = opAtomic + opcode(transport.FetchXor) + 1
)

// A memoryRequest asks for bytes [offset, offset+length) of a segment, or for an atomic
// on the word there.
type memoryRequest struct {
	op         opcode
	segment    segment.ID
	generation uint64 // the owner refuses any but the present one
	offset     uint64
	length     uint64 // of put and get; at most bounceBytes
	operand    uint64 // of atomics
	compare    uint64
}

// write fills the request part of s.
func (r memoryRequest) write(s *station) {
	for i, v := range [...]uint64{uint64(r.op), uint64(r.segment), r.generation, r.offset, r.length, r.operand, r.compare} {
		s.request[i].Store(v)
	}
}

// readRequest copies the request out of s. Each word is loaded once, so that what
// is checked and what is used are the same, whatever the client does meanwhile.
func readRequest(s *station) memoryRequest {
	var v [7]uint64
	for i := range v {
		v[i] = s.request[i].Load()
	}
	return memoryRequest{
		op: opcode(v[0]), segment: segment.ID(v[1]), generation: v[2], offset: v[3],
		length: v[4], operand: v[5], compare: v[6],
	}
}

// A status is how a request ended.
type status uint64

const (
	statusDone status = iota + 1
	statusNoSegment
	statusOutOfRange
	statusUnaligned
	statusMalformed // no client of this version sends such a request
)
