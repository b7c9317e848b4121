package status

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A PeerTable is what a rank has done with each peer, and in collective operations.
type PeerTable struct {
	Peers []PeerCounts // in the order of ranks
	Calls []CallCounts
}

// PeerCounts are what a rank has done with one peer. They only grow.
type PeerCounts struct {
	Peer                                   base.Rank
	Writes, BytesWritten, Reads, BytesRead uint64
	Notifications                          uint64 // issued without data
	QueueFull                              uint64 // posts that were not issued
	Atomics                                uint64
	Messages                               uint64 // passive ones that the peer has received
	Waited                                 time.Duration
}

// CallCounts are what one algorithm has done in one collective operation. They only grow.
type CallCounts struct {
	Operation, Algorithm string
	Calls, Bytes         uint64
	Time                 time.Duration
}

// Limits of a table.
const (
	MaxCalls = 64

	maxName       = 64         // bytes of Operation and Algorithm
	maxPeer       = 93         // bytes of PeerCounts
	maxCall       = 160        // bytes of CallCounts
	page          = 4096       // tables begin at multiples of it
	tableMagic    = 0x31425447 // "GTB1"
	peerFields    = 9
	callFields    = 3
	maxTableRanks = 1 << 17
)

// TableSize is how many bytes a table takes in the file, in a job of ranks. Few of them are written.
func TableSize(ranks int) int {
	most := headerSize + 2*binary.MaxVarintLen64 + ranks*maxPeer + MaxCalls*maxCall
	return (most + page - 1) / page * page
}

func (p *PeerCounts) fields() [peerFields]uint64 {
	return [peerFields]uint64{p.Writes, p.BytesWritten, p.Reads, p.BytesRead, p.Notifications, p.QueueFull, p.Atomics, p.Messages, uint64(p.Waited)}
}

// Append appends the table to b in the form of the file and returns the result: a header like that of a
// row, and a text of unsigned varints,
//
//	| peers | for each: rank less the one before, 9 counts | calls | for each: 2 names with their lengths, 3 counts |
//
// It cuts names, and leaves out calls beyond MaxCalls: those that took the least time.
func (t PeerTable) Append(b []byte) []byte {
	text := binary.AppendUvarint(nil, uint64(len(t.Peers)))
	before := base.Rank(-1)
	for i := range t.Peers {
		p := &t.Peers[i]
		text = binary.AppendUvarint(text, uint64(p.Peer-before))
		for _, v := range p.fields() {
			text = binary.AppendUvarint(text, v)
		}
		before = p.Peer
	}
	calls := t.Calls
	if len(calls) > MaxCalls {
		calls = slices.SortedStableFunc(slices.Values(calls), func(a, b CallCounts) int { return cmp.Compare(b.Time, a.Time) })[:MaxCalls]
	}
	text = binary.AppendUvarint(text, uint64(len(calls)))
	for _, c := range calls {
		for _, name := range []string{c.Operation, c.Algorithm} {
			name = name[:min(len(name), maxName)]
			text = append(binary.AppendUvarint(text, uint64(len(name))), name...)
		}
		for _, v := range []uint64{c.Calls, c.Bytes, uint64(c.Time)} {
			text = binary.AppendUvarint(text, v)
		}
	}
	return Seal(b, tableMagic, text)
}

// ParseTable reads what Append has made, from the beginning of b. Its ranks are below ranks.
func ParseTable(b []byte, ranks int) (PeerTable, error) {
	text, err := Unseal(b, tableMagic)
	if err != nil {
		return PeerTable{}, err
	}
	r := varints{rest: text}
	var t PeerTable
	rank := base.Rank(-1)
	for range r.count(ranks) {
		step := r.next()
		if r.err != nil || step == 0 || step > maxTableRanks || int(rank)+int(step) >= ranks {
			return PeerTable{}, errors.Join(errTable, r.err)
		}
		rank += base.Rank(step)
		var v [peerFields]uint64
		for i := range v {
			v[i] = r.next()
		}
		t.Peers = append(t.Peers, PeerCounts{
			Peer: rank, Writes: v[0], BytesWritten: v[1], Reads: v[2], BytesRead: v[3], Notifications: v[4],
			QueueFull: v[5], Atomics: v[6], Messages: v[7], Waited: duration(v[8]),
		})
	}
	for range r.count(MaxCalls) {
		c := CallCounts{Operation: r.name(), Algorithm: r.name()}
		c.Calls, c.Bytes, c.Time = r.next(), r.next(), duration(r.next())
		t.Calls = append(t.Calls, c)
	}
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%w: %d bytes behind its end", errTable, len(r.rest))
	}
	if r.err != nil {
		return PeerTable{}, r.err
	}
	return t, nil
}

var errTable = errors.New("malformed table")

func duration(v uint64) time.Duration { return time.Duration(min(v, math.MaxInt64)) }

// varints reads the text of a table. After an error all is zero.
type varints struct {
	rest []byte
	err  error
}

func (r *varints) next() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.err, r.rest = errTable, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads a number of things that are at most some.
func (r *varints) count(most int) int {
	n := r.next()
	if n > uint64(most) {
		r.err, r.rest = fmt.Errorf("%w: %d entries; at most %d are expected", errTable, n, most), nil
		return 0
	}
	return int(n)
}

func (r *varints) name() string {
	n := r.count(maxName)
	if n > len(r.rest) {
		r.err, r.rest = errTable, nil
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}
