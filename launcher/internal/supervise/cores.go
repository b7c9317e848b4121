package supervise

// CoreOf returns the core of the i-th of so many ranks that are bound. Each has one of its own if there are enough.
// Else neighbours share one, and no core has two ranks more than another.
func CoreOf(i, ranks int, cores []int) int { return cores[i*len(cores)/max(ranks, len(cores))] }
