package schedule

import (
	"fmt"
	"slices"
)

// An Operation is a kind of collective operation.
type Operation uint8

// The operations. "Block" is a range of the longer vector of a blockwise
// operation: block i belongs to rank i.
const (
	AllReduce     Operation = iota // Out of all = fold of all In
	Reduce                         // Out of the root = fold of all In
	ReduceScatter                  // Out of rank i = block i of the fold of all In
	Broadcast                      // Out of all = In of the root; in place always
	AllGather                      // block i of Out of all = In of rank i
	Gather                         // block i of Out of the root = In of rank i
	Scatter                        // Out of rank i = block i of In of the root
	AllToAll                       // block i of Out of rank j = block j of In of rank i
	Scan                           // Out of rank i = fold of In of ranks 0 to i
	ExScan                         // Out of rank i = fold of In of ranks 0 to i-1; of rank 0: untouched
	Barrier                        // nobody ends before all have begun
	Exchange                       // part k of Out = part k of In of the partner in round k; see Partner

	operations
)

var operationNames = [operations]string{
	"allreduce", "reduce", "reducescatter", "broadcast", "allgather", "gather", "scatter",
	"alltoall", "scan", "exscan", "barrier", "exchange",
}

// String is the name of the operation, as GASPI_COLL and gaspi-bench take it.
func (o Operation) String() string {
	if o < operations {
		return operationNames[o]
	}
	return fmt.Sprintf("Operation(%d)", uint8(o))
}

// Operations are all there are.
func Operations() []Operation {
	all := make([]Operation, operations)
	for i := range all {
		all[i] = Operation(i)
	}
	return all
}

// Reduces reports whether the operation combines elements.
func (o Operation) Reduces() bool {
	return o == AllReduce || o == Reduce || o == ReduceScatter || o == Scan || o == ExScan
}

// Rooted reports whether one rank has a special part.
func (o Operation) Rooted() bool {
	return o == Reduce || o == Broadcast || o == Gather || o == Scatter
}

// Blockwise reports whether vectors consist of a block per rank.
func (o Operation) Blockwise() bool {
	return o == ReduceScatter || o == AllGather || o == Gather || o == Scatter || o == AllToAll
}

// A Call is what all ranks want done, the same on all of them.
type Call struct {
	Op   Operation
	Size int // ranks, at least 1
	Root int // for operations that are Rooted

	// Count is the elements of the vector, or of every block if the operation is
	// Blockwise and Counts is nil.
	Count int
	// Counts are the elements of each block; Count then means nothing. For AllToAll it
	// has Size x Size entries, and entry i*Size+j is what rank i sends to rank j.
	Counts []int
	// Rounds is the number of partners of an Exchange, each of which gets the
	// Chunk of the vector that belongs to its round.
	Rounds int

	// InPlace says that In and Out share memory: they are the same vector, or In
	// is the rank's block of Out (AllGather; Gather at the root), or Out is the
	// rank's block of In (ReduceScatter, whose other blocks then end up with
	// anything in them; Scatter at the root).
	InPlace bool
	// Engaged, if not nil, says of each rank whether it contributes to a Reduce:
	// the process threshold of the eventually consistent reduction.
	Engaged []bool

	// Line is the elements in a cache line, at least 1: writers of different
	// ranks are kept apart by it.
	Line int
	// Nodes is the host of each rank, from 0, if hosts matter; ranks of one host
	// share memory. Nil means that nobody knows.
	Nodes []int
	// Radix is a parameter of some algorithms; 0 means their default.
	Radix int
}

// Check returns why there is no such call, or nil.
func (c *Call) Check() error {
	blocks := c.Size
	if c.Op == AllToAll {
		blocks = c.Size * c.Size
	}
	switch {
	case c.Op >= operations:
		return fmt.Errorf("schedule: there is no %v", c.Op)
	case c.Size < 1:
		return fmt.Errorf("schedule: %d ranks", c.Size)
	case c.Op.Rooted() && (c.Root < 0 || c.Root >= c.Size):
		return fmt.Errorf("schedule: root %d of %d ranks", c.Root, c.Size)
	case c.Count < 0 || c.Line < 1 || c.Rounds < 0:
		return fmt.Errorf("schedule: count %d, line %d, rounds %d", c.Count, c.Line, c.Rounds)
	case c.Counts != nil && (!c.Op.Blockwise() || len(c.Counts) != blocks):
		return fmt.Errorf("schedule: %v of %d ranks with %d block sizes", c.Op, c.Size, len(c.Counts))
	case c.Nodes != nil && len(c.Nodes) != c.Size, c.Engaged != nil && len(c.Engaged) != c.Size:
		return fmt.Errorf("schedule: nodes of %d and engagement of %d ranks, not %d", len(c.Nodes), len(c.Engaged), c.Size)
	}
	for _, n := range c.Counts {
		if n < 0 {
			return fmt.Errorf("schedule: a block of %d elements", n)
		}
	}
	return nil
}

// Block is where block i of the longer vector begins and how long it is. It is
// not for AllToAll; see Sent and Received.
func (c *Call) Block(i int) (off, n int) {
	if c.Counts == nil {
		return i * c.Count, c.Count
	}
	for _, k := range c.Counts[:i] {
		off += k
	}
	return off, c.Counts[i]
}

// Sent is the block of rank from's In that rank to gets, in an AllToAll.
func (c *Call) Sent(from, to int) (off, n int) {
	if c.Counts == nil {
		return to * c.Count, c.Count
	}
	row := c.Counts[from*c.Size : (from+1)*c.Size]
	for _, k := range row[:to] {
		off += k
	}
	return off, row[to]
}

// Received is the block of rank to's Out that rank from sends, in an AllToAll.
func (c *Call) Received(to, from int) (off, n int) {
	if c.Counts == nil {
		return from * c.Count, c.Count
	}
	for r := range from {
		off += c.Counts[r*c.Size+to]
	}
	return off, c.Counts[from*c.Size+to]
}

// Total is the elements of the longer vector of rank r: of all blocks, or of the
// vector.
func (c *Call) Total() int {
	if !c.Op.Blockwise() {
		return c.Count
	}
	off, n := c.Block(c.Size - 1)
	return off + n
}

// Longest is the elements of the longest block, or of the vector if the operation is
// not Blockwise. It is the same on all ranks.
func (c *Call) Longest() int {
	if len(c.Counts) > 0 {
		return slices.Max(c.Counts)
	}
	return c.Count
}

// Partner is whom rank r exchanges with in round k of an Exchange: the partner of
// the k-th step of halving and doubling, or false if there is none.
func (c *Call) Partner(r, k int) (int, bool) {
	p := r ^ 1<<k
	return p, p < c.Size
}

// InLen is how many elements rank r's In has, 0 if it contributes nothing.
func (c *Call) InLen(r int) int {
	n := c.Count
	switch c.Op {
	case AllGather, Gather:
		_, n = c.Block(r)
	case ReduceScatter:
		n = c.Total()
	case Scatter:
		if n = c.Total(); r != c.Root {
			n = 0
		}
	case AllToAll:
		off, last := c.Sent(r, c.Size-1)
		n = off + last
	case Broadcast:
		if r != c.Root {
			n = 0
		}
	case Barrier:
		n = 0
	}
	return n
}

// OutLen is how many elements rank r's Out has, 0 if it gets nothing.
func (c *Call) OutLen(r int) int {
	n := c.Count
	switch c.Op {
	case ReduceScatter, Scatter:
		_, n = c.Block(r)
	case Reduce:
		if r != c.Root {
			n = 0
		}
	case AllGather:
		n = c.Total()
	case Gather:
		if n = c.Total(); r != c.Root {
			n = 0
		}
	case AllToAll:
		off, last := c.Received(r, c.Size-1)
		n = off + last
	case Barrier:
		n = 0
	}
	return n
}
