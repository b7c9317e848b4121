package price

// A host is the machine that ranks run on: its memory and its cores.
type host struct {
	memory float64 // when it has done all that was asked of it
	cached bool    // what is asked of it stays in the cache
	cores  []core  // nil if there is one per rank
	queue  []int32 // ranks that want a core
}

// A core runs one rank at a time.
type core struct {
	rank int32 // the last that had it, or -1
	held bool
}

// host puts the ranks on count hosts.
func (s *sim) host(of []int32, count int) {
	s.hosts = make([]host, count)
	ranks, memory := make([]int, count), make([]int, count)
	for r, h := range of {
		s.ranks[r].host = h
		ranks[h]++
		memory[h] += (s.p.memory[r] + s.p.eager*s.depth.Copies) * s.element
	}
	for i := range s.hosts {
		h := &s.hosts[i]
		h.cached = s.m.Cache > 0 && memory[i] <= s.m.Cache
		if s.m.Cores == 0 || ranks[i] <= s.m.Cores {
			continue
		}
		h.cores = make([]core, s.m.Cores)
		for k := range h.cores {
			h.cores[k].rank = -1
		}
	}
}

// takeCore gives a rank a free core and returns when it can work there, or queues
// it.
func (s *sim) takeCore(id int32, now float64) (ready float64, ok bool) {
	r := &s.ranks[id]
	h := &s.hosts[r.host]
	if h.cores == nil {
		return now, true
	}
	best := -1
	for i := range h.cores {
		c := &h.cores[i]
		if !c.held && (best < 0 || c.rank == id || c.rank < 0 && h.cores[best].rank != id) {
			best = i
		}
	}
	if best < 0 {
		h.queue = append(h.queue, id)
		return 0, false
	}
	return s.handOver(id, int32(best), now), true
}

// handOver gives a rank a core and returns when it can work there.
func (s *sim) handOver(id, core int32, now float64) float64 {
	r := &s.ranks[id]
	c := &s.hosts[r.host].cores[core]
	if c.rank >= 0 && c.rank != id {
		now += s.m.Switch
	}
	c.rank, c.held, r.core = id, true, core
	return now
}

// giveCore takes the core of a rank and gives it to the next that wants one.
func (s *sim) giveCore(id int32, now float64) {
	r := &s.ranks[id]
	h := &s.hosts[r.host]
	if h.cores == nil {
		return
	}
	core := r.core
	h.cores[core].held, r.core = false, -1
	if len(h.queue) == 0 {
		return
	}
	next := h.queue[0]
	h.queue = append(h.queue[:0], h.queue[1:]...)
	s.ranks[next].state = running
	s.wake(next, s.handOver(next, core, now))
}
