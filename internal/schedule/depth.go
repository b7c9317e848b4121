package schedule

// A Depth says how far ranks may run ahead of each other by the copies of eager memory.
//
// A run uses the copy of its number modulo Copies. Runs are counted in batches of so many: in
// the last run of one, readers give its copies back by a Credit, and in the first run of another
// one, writers await the Credit of the batch that used its copies before. So a writer is from
// Copies-Batch to Copies runs ahead of its readers before it waits, and a credit is a message for
// Batch runs.
type Depth struct{ Copies, Batch int }

// EagerSlots is how many slots the eager memory of one call has at most, in all copies.
const EagerSlots = 1024

const (
	// sharedBytes is enough for 256 copies of 1 KiB from one rank, or of 64 bytes from 15. A writer
	// goes through that of all its readers in turns, which together is to stay in a second-level cache.
	sharedBytes = 256 << 10
	// sentBytes is more, since who waits for a credit that comes by a socket waits for a turn of
	// the scheduler at both ends; with the scratch beside it, it is less than what choices count as heavy.
	sentBytes = 1 << 20
)

// EagerBytes returns how many bytes the eager memory of one call has at most, in all copies. The
// number differs for members that all share memory.
func EagerBytes(shared bool) int {
	if shared {
		return sharedBytes
	}
	return sentBytes
}

const (
	mostCopies = 256
	// batches is how many batches the copies are: a writer fills one while a reader empties the other. More of them
	// cost messages: with 4, reductions of 8 B to 64 KiB by 4 and 8 ranks over sockets took 1.0 to 1.5 times as long.
	batches = 2
)

// DepthOf returns the depth of eager memory of so many slots and bytes in a copy that has at most
// mostSlots and mostBytes in all, but never less than two copies. It is a power of two, and so is its batch.
func DepthOf(slots, bytes, mostSlots, mostBytes int) Depth {
	d := Depth{Copies: mostCopies}
	for d.Copies > 2 && (d.Copies*slots > mostSlots || d.Copies*bytes > mostBytes) {
		d.Copies /= 2
	}
	d.Batch = max(1, d.Copies/batches)
	return d
}

// Copy is the copy that a run uses.
func (d Depth) Copy(run int) int { return run % d.Copies }

// Credits reports whether readers post credits in a run.
func (d Depth) Credits(run int) bool { return (run+1)%d.Batch == 0 }

// Awaits returns how many credits of a reader there are to be in a run before its writer may go
// on, and whether it waits for any.
func (d Depth) Awaits(run int) (credits int, waits bool) {
	if run < d.Copies || run%d.Batch != 0 {
		return 0, false
	}
	return (run-d.Copies)/d.Batch + 1, true
}
