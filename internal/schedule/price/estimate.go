package price

// Segments are how a call is cut, and what of it decides what fits the caches.
type Segments struct {
	Count   float64 // segments; 1 or more, and a part of one for a last one that is shorter
	AtOnce  float64 // as many are under way at a time
	Element float64 // bytes of an element
	Vectors float64 // elements of the vectors of a rank that is not the root,
	Root    float64 // and of the root, or of any rank if there is none
}

// Estimate returns the time of a run, in seconds, of a call whose segments do what the profile
// says: half of two runs that follow each other, of which one may begin before the other has
// ended everywhere. Segments follow each other as fast as what they share allows: the work of a
// rank, cores, ports and memory. It is a formula of the same model that Run simulates, and leaves
// out how ranks and segments get in each other's way.
func Estimate(m *Machine, s *Topology, p Profile, w Segments) float64 {
	e := estimator{m: m, s: s, element: w.Element, near: m.Cached() && s.Nodes > 1, shared: m.Cores > 0 && s.Host > m.Cores}
	e.memory = float64(w.Vectors*w.Element) + p.Memory(s, w)
	e.root = float64((w.Root - w.Vectors) * w.Element) // rounded here, for all processors alike
	e.cached = e.fits(float64(s.Host))
	w.AtOnce = p.atOnce(w)
	if p.EagerSlots > 0 {
		p.Stages = p.returned(s, w)
	}
	p.Stages = s.along(p.Stages)
	first, use := e.total(p.Stages)
	if p.Before != nil && w.AtOnce == 1 { // the next segment is copied to where this one is sent from
		copies, _, _ := e.stage(p.Before)
		use.ports += copies
	}
	if w.AtOnce > 1 && w.Count > 1 {
		use.ports += e.idle(&p, w)
	}
	if p.Again != nil && w.Count > 1 {
		use.ports += e.within(p.Stages) / w.AtOnce
	}
	period := e.period(&p, w, first, use)
	switch step := max(use.most(), period/w.AtOnce); {
	case w.Count <= 1:
	case p.Again == nil:
		each := first
		if w.AtOnce == 1 { // the first rank of a node sends of the next segment while others copy
			each -= e.early(p.Stages)
		}
		first = max(first+float64((w.Count-1)*use.most())-e.filled(&p, w, use), first+float64((w.Count/w.AtOnce-1)*each))
		period = first
	default:
		first, period = first+float64((w.Count-1)*step)-e.filled(&p, w, use), max(w.Count*step, period)
	}
	return m.Call + (e.begin()+first+period)/2
}

// begin is how long the ranks of a host take until each has had a core. Only the first of each core pays nothing for it.
func (e *estimator) begin() float64 {
	if !e.shared {
		return 0
	}
	return float64(e.s.Host-e.m.Cores) * e.m.Switch / float64(e.m.Cores)
}

// An estimator is what all stages of a call have in common.
type estimator struct {
	m       *Machine
	s       *Topology
	element float64
	memory  float64 // bytes of a rank
	root    float64 // bytes that the root has more
	cached  bool
	near    bool
	shared  bool // ranks share cores
}

// fits reports whether the memory of so many ranks of a host, of which one may be the root, fits its cache.
func (e *estimator) fits(ranks float64) bool {
	return e.m.Cache > 0 && float64(e.memory*ranks)+e.root <= float64(e.m.Cache)
}

// A usage is how long stages occupy what ranks share, in seconds.
type usage struct{ rank, others, cores, ports, memory float64 }

func (u usage) most() float64 { return max(u.rank, u.others, u.cores, u.ports, u.memory) }

func (u usage) times(n float64) usage {
	return usage{float64(u.rank * n), float64(u.others * n), float64(u.cores * n), float64(u.ports * n), float64(u.memory * n)}
}

func (u usage) plus(v usage) usage {
	return usage{u.rank + v.rank, u.others + v.others, u.cores + v.cores, u.ports + v.ports, u.memory + v.memory}
}

// total is how long stages take one after the other, and what they occupy. Ranks that queue for the ports of their
// node do so once, and come there one behind the other then. Where all send in each stage, the ports go on with the
// first of the next stage when they have done with the last of this.
func (e *estimator) total(stages []Stage) (seconds float64, use usage) {
	first, ports, queue := 0.0, 0.0, 0.0 // when the first comes to a stage, and when the ports have done
	behind := 0.0                        // work behind the last stage that takes ports, or that is of signals
	for i := range stages {
		t, q, u := e.stage(&stages[i])
		if stages[i].Meanwhile != 0 {
			t = max(t, e.longer(stages, i))
		}
		if stages[i].OneWay {
			queue = max(queue, q)
		} else if u.ports > 0 {
			ports = max(ports, first)
			seconds, ports = max(seconds, ports+q), ports+u.ports
		}
		seconds, first, use = seconds+t, first+t, use.plus(u)
		if behind += t; u.ports > 0 || stages[i].Peers > 0 && stages[i].Elements == 0 {
			behind = 0
		}
	}
	return max(seconds+queue, use.ports+behind, use.memory, use.cores), use
}

// longer is how much longer stage i takes than those that others are in meanwhile.
func (e *estimator) longer(stages []Stage, i int) float64 {
	all := stages[i]
	all.Only = Both
	t, queue, _ := e.stage(&all)
	t += queue
	if all.Sooner != nil {
		sooner, _, _ := e.stage(all.Sooner)
		t += sooner
	}
	for k := range max(all.Meanwhile, -all.Meanwhile) {
		at := i - 1 - k
		if all.Meanwhile < 0 {
			at = i + 1 + k
		}
		others, _, _ := e.stage(&stages[at])
		t -= others
	}
	return t
}

// locals is how long the combines and codings of a rank take, and the bytes that they move.
func (e *estimator) locals(g *Stage) (seconds, traffic float64) {
	for _, l := range [2]*Local{&g.Fold, &g.Copy} {
		if l.Elements > 0 {
			s, b := e.local(l)
			seconds, traffic = seconds+s, traffic+b
		}
	}
	if g.Coded > 0 {
		bytes := g.Coded * e.element
		moved := float64(bytes * (1 + or(e.m.CodeRatio, 1)))
		seconds += max(float64(g.Codes*e.m.Step)+per(bytes, e.m.CodeRate), e.fromMemory(moved))
		traffic += moved
	}
	return seconds, traffic
}

func (e *estimator) local(l *Local) (seconds, traffic float64) {
	n, stores, times := l.Elements*e.element, or(l.Stores, 1), or(l.Times, 1)
	traffic = float64((l.Sources + stores) * n)
	if e.near {
		traffic -= float64(l.Scratch * n)
	}
	seconds = e.m.Step + float64(stores*per(n, e.m.CopyRate))
	if l.Sources > 1 {
		seconds = e.m.Step + float64((l.Sources-1)*per(n, e.m.ReduceRate)) + float64((stores-1)*per(n, e.m.CopyRate))
	}
	return float64(times * max(seconds, e.fromMemory(traffic))), float64(times * traffic)
}

// fromMemory is how long a rank takes to read or write bytes that are not in the cache.
func (e *estimator) fromMemory(bytes float64) float64 {
	if e.cached {
		return 0
	}
	return per(bytes, e.m.CoreMemory)
}

// nearSend is the work of a message within a node, and the bytes that it moves.
func (e *estimator) nearSend(bytes float64, apart bool) (seconds, traffic float64) {
	if bytes == 0 {
		return e.m.Shared.Signal, 0
	}
	seconds = max(e.m.Shared.Put+per(bytes, e.m.CopyRate), e.fromMemory(2*bytes))
	if apart {
		seconds += e.m.Shared.Signal
	}
	return seconds, 2 * bytes
}

// farSend is the work of a message to another node, and how long it occupies a port.
func (e *estimator) farSend(bytes float64) (seconds, wire float64) {
	if bytes == 0 {
		return e.m.Network.Signal, 0
	}
	moving := e.m.Sending(bytes)
	if e.m.Bandwidth > 0 {
		wire = max(bytes/e.m.Bandwidth, moving)
	}
	return e.m.Network.Put + moving, wire
}

// or is x, or y if x is 0.
func or(x, y float64) float64 {
	if x == 0 {
		return y
	}
	return x
}
