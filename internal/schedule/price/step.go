package price

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// step takes the next step of the current lane of a rank and returns when the
// rank's CPU has done its part.
func (s *sim) step(id int32, now float64) float64 {
	r := &s.ranks[id]
	index := s.p.ranks[id].first + r.current
	ln := &s.lanes[index]
	o := &s.p.ops[ln.next]
	switch o.kind {
	case schedule.Put:
		now = s.put(r, ln, o, now)
	case schedule.Signal:
		now = s.signal(r, ln, o, now)
	case schedule.Credit:
		if s.depth.Credits(int(r.run) - 1) {
			r.credits++
			now = s.signal(r, ln, o, now)
		}
	case schedule.Await, schedule.AwaitCredit:
		if n := s.wanted(r, o); n > 0 {
			ln.depth = ln.depth.or(s.posts[s.slots[o.slot].first+n-1].depth)
			now = s.work(r, now, s.m.Await)
		}
	case schedule.Combine:
		now = s.combine(r, o, now)
	case schedule.Encode, schedule.Decode:
		bytes := s.bytes(o)
		now = s.move(r, now, s.m.Step+per(bytes, s.m.CodeRate), bytes+s.coded(bytes))
	}
	ln.next++
	if ln.next == s.p.lanes[index].end {
		r.open--
		r.depth = r.depth.or(ln.depth)
	}
	return now
}

// work keeps the CPU of a rank busy for so many seconds.
func (s *sim) work(r *rank, now, seconds float64) float64 {
	seconds = float64(seconds*r.slow) + r.debt // rounded here, for all processors alike
	r.debt = 0
	r.busy += seconds
	return now + seconds
}

// move is work that also takes bytes through the memory of the host.
func (s *sim) move(r *rank, now, seconds, bytes float64) float64 {
	h := &s.hosts[r.host]
	if !h.cached {
		seconds = max(seconds, per(bytes, s.m.CoreMemory))
	}
	end := s.work(r, now, seconds)
	if s.m.Memory == 0 || h.cached {
		return end
	}
	h.memory = max(h.memory, now) + bytes/s.m.Memory
	if h.memory > end {
		r.busy += h.memory - end
		end = h.memory
	}
	return end
}

// bytes returns the size of an op in bytes.
func (s *sim) bytes(o *op) float64 { return float64(o.n * s.element) }

// coded is the length of the coded form of bytes.
func (s *sim) coded(bytes float64) float64 {
	if s.m.CodeRatio > 0 {
		return float64(bytes * s.m.CodeRatio)
	}
	return bytes
}

// per is how long bytes take at a rate.
func per(bytes, rate float64) float64 {
	if rate == 0 {
		return 0
	}
	return bytes / rate
}

// combine folds and copies.
func (s *sim) combine(r *rank, o *op, now float64) float64 {
	n := s.bytes(o)
	sources, stores := float64(o.sources), float64(o.stores)
	traffic := float64((sources + stores) * n)
	if s.near {
		traffic = float64(float64(o.vectors) * n)
	}
	if o.sources == 1 {
		return s.move(r, now, s.m.Step+stores*per(n, s.m.CopyRate), traffic)
	}
	if s.freeFold {
		return now
	}
	fold, spread := float64((sources-1)*per(n, s.m.ReduceRate)), float64((stores-1)*per(n, s.m.CopyRate))
	return s.move(r, now, s.m.Step+fold+spread, traffic)
}

// put sends a message with data.
func (s *sim) put(r *rank, ln *laneTime, o *op, now float64) float64 {
	id, after, bytes := s.instance(r, ln.next), s.instance(r, o.after), s.bytes(o)
	if o.coded {
		bytes = s.coded(bytes)
		r.sent += int(bytes)
		s.ranks[o.peer].received += int(bytes)
	}
	depth := ln.depth.and(true)
	if to := s.ranks[o.peer].node; to == r.node {
		now = s.move(r, now, s.m.Shared.Put+per(bytes, s.m.CopyRate), 2*bytes)
		s.land(messageUnderWay{id: id, after: after, depth: depth}, o, now+s.m.Shared.Latency)
		return now
	}
	begin := s.work(r, now, s.m.Network.Put)
	now = s.work(r, begin, s.m.Sending(bytes))
	if bytes == 0 || s.m.Bandwidth == 0 {
		s.send(messageUnderWay{id: id, after: after, depth: depth}, o, now)
		return now
	}
	seconds := max(bytes/s.m.Bandwidth, now-begin) // a port waits for a slow processor
	start, end := s.nodes[r.node].out.take(begin, seconds)
	ln.free, r.free = max(ln.free, end), max(r.free, end)
	s.left[id], s.landed[id] = start, pending
	s.fly(messageUnderWay{bytes, seconds, id, after, depth}, start+s.m.Network.Latency)
	return now
}

// signal sends a message without data.
func (s *sim) signal(r *rank, ln *laneTime, o *op, now float64) float64 {
	m := messageUnderWay{id: s.instance(r, ln.next), after: s.instance(r, o.after), depth: ln.depth.and(o.data)}
	if s.ranks[o.peer].node == r.node {
		now = s.work(r, now, s.m.Shared.Signal)
		s.land(m, o, now+s.m.Shared.Latency)
		return now
	}
	if !o.joint {
		now = s.work(r, now, s.m.Network.Signal)
	}
	s.send(m, o, now)
	return now
}

// instance is what an op is called in the present run of a rank: messages of
// runs before may still be on their way.
func (s *sim) instance(r *rank, op int32) int32 {
	if op < 0 {
		return op
	}
	return op + r.run%int32(s.span)*int32(len(s.p.ops))
}

// send sends a message that takes no room in ports, but leaves no earlier than
// the put that it must not overtake.
func (s *sim) send(m messageUnderWay, o *op, now float64) {
	if m.after >= 0 {
		now = max(now, s.left[m.after])
	}
	s.left[m.id] = now
	if s.m.Take > 0 || m.after >= 0 && s.landed[m.after] == pending {
		s.landed[m.id] = pending
		s.fly(m, now+s.m.Network.Latency)
		return
	}
	s.land(m, o, now+s.m.Network.Latency)
}

// fly foresees that a message reaches the ports of its node.
func (s *sim) fly(m messageUnderWay, at float64) {
	var i int32
	if n := len(s.spare); n > 0 {
		i, s.spare = s.spare[n-1], s.spare[:n-1]
		s.messages[i] = m
	} else {
		i = int32(len(s.messages))
		s.messages = append(s.messages, m)
	}
	s.events.push(at, ^i)
}

// receive takes a message in through a port.
func (s *sim) receive(now float64, i int32) {
	m := s.messages[i]
	s.spare = append(s.spare, i)
	o := &s.p.ops[int(m.id)%len(s.p.ops)]
	if m.bytes > 0 {
		_, now = s.nodes[s.ranks[o.peer].node].in.take(now, m.seconds)
	}
	taking := s.m.Take
	if o.joint {
		taking = 0
	}
	s.land(m, o, s.takeIn(&s.ranks[o.peer], now, m.bytes, taking))
}

// takeIn is when a rank's CPU has taken in a message whose last bytes arrive now. It
// moves them as they come, and pays later if it has something else to do, or no core.
func (s *sim) takeIn(r *rank, now, bytes, taking float64) float64 {
	moving := float64(s.m.Receiving(bytes) * r.slow)
	taking = float64(taking * r.slow)
	cost := moving + taking
	if cost == 0 {
		return now
	}
	switch {
	case s.hosts[r.host].cores != nil && r.state != done:
		r.debt += cost
		return now
	case r.state == running:
		r.debt += cost
	default:
		r.busy += cost
	}
	r.inbox = max(r.inbox+moving, now) + taking
	return r.inbox
}

// land records when a message arrives. The messages that it must not overtake have reached the
// port before it, so their times are recorded already.
func (s *sim) land(m messageUnderWay, o *op, at float64) {
	if m.after >= 0 && (o.kind != schedule.Put || o.n == 0) {
		at = max(at, s.landed[m.after])
	}
	s.landed[m.id] = at
	if m.after >= 0 { // the next signal is behind all puts before it
		s.landed[m.id] = max(at, s.landed[m.after])
	}
	if o.slot >= 0 {
		s.post(o.slot, at, m.depth)
	}
}
