package transport

import "sync/atomic"

// Apply does op on word and returns the old value. compare is used by
// CompareSwap alone, which stores operand if the word equals it.
func Apply(word *atomic.Uint64, op AtomicOp, operand, compare uint64) uint64 {
	switch op {
	case FetchAdd:
		return word.Add(operand) - operand
	case Swap:
		return word.Swap(operand)
	case FetchAnd:
		return word.And(operand)
	case FetchOr:
		return word.Or(operand)
	}
	for {
		old := word.Load()
		next := old
		switch op {
		case CompareSwap:
			if old == compare {
				next = operand
			}
		case FetchMin:
			next = min(old, operand)
		case FetchMax:
			next = max(old, operand)
		case FetchXor:
			next = old ^ operand
		}
		// Storing even an unchanged word keeps the operation one atomic step.
		if word.CompareAndSwap(old, next) {
			return old
		}
	}
}
