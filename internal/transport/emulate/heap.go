package emulate

// A timedEvent is something that happens at a time on the system's monotonic clock.
type timedEvent struct {
	at   int64
	seq  uint64 // of two at one time, the one that was foreseen first
	what stage
	m    *packetTrain
}

// A heap holds events, the earliest first.
type heap []timedEvent

func (e timedEvent) before(f timedEvent) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

func (h *heap) push(e timedEvent) {
	*h = append(*h, e)
	all := *h
	i := len(all) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(all[up]) {
			break
		}
		all[i] = all[up]
		i = up
	}
	all[i] = e
}

// pop takes the earliest event; there is one.
func (h *heap) pop() timedEvent {
	all := *h
	first, last := all[0], len(all)-1
	e := all[last]
	all[last] = timedEvent{}
	*h = all[:last]
	if last > 0 {
		(*h).sink(0, e)
	}
	return first
}

// sink puts e at place i or below it.
func (h heap) sink(i int, e timedEvent) {
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].before(h[down]) {
			down++
		}
		if !h[down].before(e) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = e
}

// extract takes out the events that are wanted.
func (h *heap) extract(want func(timedEvent) bool) (out []timedEvent) {
	rest := (*h)[:0]
	for _, e := range *h {
		if want(e) {
			out = append(out, e)
		} else {
			rest = append(rest, e)
		}
	}
	clear((*h)[len(rest):])
	*h = rest
	for i := len(rest)/2 - 1; i >= 0; i-- {
		rest.sink(i, rest[i])
	}
	return out
}
