package price

import "math"

// A stageCost is what estimating a stage takes: seconds, if nothing else is said.
type stageCost struct {
	*Stage
	times, lanes, got, pairs, share float64

	folding     float64 // of those that send, the part that does local work
	bytes       float64 // of a message
	near, far   float64 // the work of sending one within a node, and to another
	wire        float64 // how long one occupies a port
	moving      float64 // how long the receiver of one from another node moves its bytes
	local       float64 // folds, copies and codings
	traffic     float64 // bytes that they move in memory
	nearTraffic float64 // bytes that a message within a node moves
	own         float64 // how long the messages of one rank occupy its ports
	cpu         float64 // work of the mean rank
	use         usage
}

// stage is how long a stage takes, how long ranks then queue for ports, and what it occupies. Its longest path may be on
// a host of fewer ranks than that of which everything else is.
func (e *estimator) stage(g *Stage) (seconds, queue float64, use usage) {
	seconds, queue, use = e.onHost(g)
	if host := g.Route.Host; host > 0 {
		there, path := *e, *g
		there.cached = e.fits(host)
		path.Pairs = max(1, or(g.Pairs, float64(e.s.Host))*host/float64(e.s.Host))
		seconds, _, _ = there.onHost(&path)
	}
	if g.Others {
		use.rank, use.others = 0, use.rank
	}
	return seconds, queue, use
}

// onHost is stage as if all hosts were alike.
func (e *estimator) onHost(g *Stage) (seconds, queue float64, use usage) {
	c := e.cost(g)
	c.use.rank = e.busiest(&c)
	work := float64(c.sends(g.Route.Most) + float64(got(g)*e.m.Await) + c.local + e.credits(g, g.Route.Most))
	if g.Flushed {
		work += float64(g.Route.Most * g.Peers * max(0, e.m.Network.Put+c.wire-c.far))
	}
	if c.lanes > 1 {
		work = c.use.rank // what arrives does so while the rank is busy
	}
	e.occupy(&c)
	t := e.chain(&c)
	switch {
	case g.Only == Neither && !e.shared:
		t = 0
	case g.Only != Both && !e.shared:
	case g.Share > 0:
		t += e.turns(&c, or(c.Turns, 1))
		return float64(t * c.times), 0, c.use.times(c.times * c.share)
	default:
		chain := t
		t = max(t, c.lanes*c.use.memory)
		sending := max(c.own, c.sends(c.Route.Part)-c.far)      // while ports take in what others send, too
		queue = max(0, c.lanes*(c.use.ports-sending)-(t-chain)) // who waits for memory queues meanwhile
		if c.times > 1 {
			all := max(t, c.lanes*c.use.ports) // so long do ports have to do each time, of which those who queue are a part
			t, queue = all, max(0, queue-(all-t))
		}
		if !g.OneWay {
			t = max(t, work*c.lanes)
		}
		if e.shared {
			t = e.onCores(&c)
		}
		if g.Only == Neither {
			t = 0
		}
	}
	c.use.ports -= float64(c.Route.Spare*c.Peers) * c.wire / float64(max(e.m.Ports, 1))
	return float64(t * c.times), queue, c.use.times(c.times * c.lanes * c.share)
}

// got is how many messages a rank waits for in a stage.
func got(g *Stage) float64 { return or(g.From, g.Peers) }

// cost is what a stage's messages and local work take, each by itself.
func (e *estimator) cost(g *Stage) stageCost {
	c := stageCost{
		Stage: g, times: or(g.Times, 1), lanes: or(g.Lanes, 1), got: got(g), pairs: or(g.Pairs, float64(e.s.Host)), share: or(g.Share, 1),
		folding: 1, bytes: g.Elements * e.element,
	}
	if g.Elsewhere {
		c.share = 0
	}
	if g.Compressed {
		c.bytes *= or(e.m.CodeRatio, 1)
	}
	c.local, c.traffic = e.locals(g)
	c.near, c.nearTraffic = e.nearSend(c.bytes, g.Apart)
	c.far, c.wire = e.farSend(c.bytes)
	c.moving = e.m.Receiving(c.bytes)
	part := g.Route.Part
	taking := e.m.Await + float64(part*(e.m.Take+c.moving))
	if g.OneWay && g.Peers > 0 {
		c.folding = min(1, g.Peers/c.got)
	}
	c.cpu = c.sends(part) + float64(g.Peers*taking) + float64(c.folding*(c.local+e.credits(g, part)))
	return c
}

// sends is the work of sending to all peers of a rank, of whom a part are on other nodes.
func (c *stageCost) sends(part float64) float64 {
	return float64(c.Peers * (float64(part*c.far) + float64((1-part)*c.near)))
}

// nearSends is the work of sending to the ranks of its own node, which a root does first.
func (c *stageCost) nearSends() float64 {
	if !c.OneWay || c.Busy != Leaving {
		return 0
	}
	return float64((1 - c.Route.Part) * c.Peers * c.near)
}

// credits is the work of the credits of a stage for both sides.
func (e *estimator) credits(g *Stage, part float64) float64 {
	return g.Credits * (e.signal(part) + float64(part*e.m.Take) + e.m.Await)
}

// signal is the work of a signal of which a part goes to another node.
func (e *estimator) signal(part float64) float64 {
	return float64(part*e.m.Network.Signal) + float64((1-part)*e.m.Shared.Signal)
}

// latency is the latency of a message of which a part goes to another node.
func (e *estimator) latency(part float64) float64 {
	return float64(part*e.m.Network.Latency) + float64((1-part)*e.m.Shared.Latency)
}

// busiest is the work of the rank that has most to do in a stage.
func (e *estimator) busiest(c *stageCost) float64 {
	most := c.Route.Most
	sent := c.sends(most)
	taken := float64(c.got*(e.m.Await+float64(most*(e.m.Take+c.moving)))) + c.local
	switch {
	case !c.OneWay, c.Share > 0:
		return sent + taken + e.credits(c.Stage, most)
	case c.Busy == Arrival:
		return taken + float64(c.Credits*e.signal(most))
	case c.Busy == Leaving:
		return sent + float64(c.Credits*(e.m.Await+float64(most*e.m.Take)))
	case c.Busy == Neither:
		return 0
	}
	return max(sent, taken)
}

// occupy is how long a stage occupies ports and memory, and how much longer local work and messages
// take where ranks share the memory.
func (e *estimator) occupy(c *stageCost) {
	part := c.Route.Part
	if out, ports := c.Route.Out, float64(max(e.m.Ports, 1)); out > 0 {
		c.use.ports = max(out*c.Peers, c.got*part) * c.wire / ports
		c.own = min(c.use.ports, max(c.Peers, c.got)*c.wire/ports)
	}
	if e.cached {
		return
	}
	sent := (1 - part) * c.nearTraffic
	c.use.memory = per(c.pairs*(float64(c.folding*c.traffic)+float64(c.Peers*sent)), e.m.Memory)
	together := c.pairs
	switch {
	case c.Share > 0:
		together = 1
	case e.shared:
		together = min(c.pairs, float64(e.m.Cores))
	}
	c.local = max(c.local, per(max(1, float64(together*c.folding))*c.traffic, e.m.Memory)-(c.use.ports-c.own)) // who queues for ports folds later
	c.near = max(c.near, per(together*sent, e.m.Memory))
}

// chain is the longest path through a stage.
func (e *estimator) chain(c *stageCost) float64 {
	m := e.m
	chain := c.local
	if c.Busy != Arrival {
		chain += float64(c.Credits * m.Await)
	}
	if c.Busy == Arrival || !c.OneWay {
		answers := float64(c.Credits * e.signal(c.Route.Far))
		if c.Window > 0 { // the next message is on its way meanwhile
			answers = max(0, answers-e.latency(c.Route.Far))
		}
		chain += answers
	}
	switch {
	case c.Peers == 0:
		return chain
	case c.Window > 0 && c.Busy == Arrival:
		return e.windows(c) / c.times
	}
	near, far := float64(c.Peers*c.near)+m.Shared.Latency+m.Await, e.farChain(c)
	switch c.Only {
	case Arrival:
		near, far = c.got*m.Await, c.got*m.Await
		if c.Late {
			far += min(c.own, c.got*c.wire/float64(max(m.Ports, 1)))
		}
	case Leaving:
		near, far = c.Peers*c.near, max(c.Peers*c.far, c.own)
	}
	chain += float64(c.Route.Far*far) + float64((1-c.Route.Far)*near)
	if c.Window > 0 {
		loop := near + c.local + m.Shared.Signal + m.Shared.Latency + m.Await
		if c.Route.Out > 0 {
			loop = far + c.local + m.Network.Signal + m.Network.Latency + m.Take + m.Await
			if c.Flushed && e.s.Least == 1 { // a rank alone on its node passes on to another before it answers
				loop += m.Network.Put + c.wire
			}
		}
		chain = max(chain, loop/c.Window)
	}
	return chain
}

// windows is how long all times of a stage take in which one rank hears from the others, from as many at a time as its
// window has. They send when they have its credits, of which the first was sent before, and each message is answered with
// the next one. So it takes as long as the messages of each window take to come and go, or as the rank and its ports are
// about all messages and credits.
func (e *estimator) windows(c *stageCost) float64 {
	m, part, far := e.m, c.Route.Part, c.Route.Far
	one := float64((1-far)*(c.near+m.Shared.Latency)) + float64(far*(m.Network.Put+c.wire+m.Network.Latency+m.Take)) + m.Await
	signal := e.signal(part)
	answer := signal + e.latency(far) + float64(far*m.Take) + m.Await
	take := m.Await + float64(part*(m.Take+c.moving))
	step := max(take, part*c.wire/float64(max(m.Ports, 1)))
	all := c.got * c.times
	rounds, last := c.rounds()
	credits := float64((c.Window - 1) * signal)
	if rounds > 1 {
		credits += float64((all-c.Window)*(take+signal)) + answer
	}
	return one + max(credits, (all-1)*step, float64((rounds-1)*(one+answer))+float64((last-1)*max(step, signal)))
}

// rounds is how many windows of messages from other nodes a stage has, or of all if there are none, and the messages of the
// last one. Those from the rank's own node are there soon.
func (c *stageCost) rounds() (rounds, last float64) {
	slow := float64(c.got * c.times * or(c.Route.Part, 1))
	rounds = math.Ceil(slow/c.Window - 1e-9) // a product may be a little more than the whole number that it stands for
	return rounds, slow - float64((rounds-1)*c.Window)
}

// farChain is how long it takes until the last of the messages of a stage that come from other
// nodes has been seen.
func (e *estimator) farChain(c *stageCost) float64 {
	m := e.m
	sends := c.sends(c.Route.Part)
	spread := max(0, sends-c.far)
	t := m.Network.Put + spread + c.wire
	if c.bytes == 0 {
		t = max(c.far, sends)
	} else if own := c.own + c.nearSends(); own-c.wire > spread {
		spread = own - c.wire
		t = m.Network.Put + own
	}
	t += m.Network.Latency + m.Take + max(0, float64((c.got-1)*m.Take)-spread) + m.Await
	if c.OneWay || e.shared || c.far == 0 {
		return t
	}
	// Messages that begin to arrive while the rank sends are taken in behind that, while it waits for the last.
	behind := math.Ceil(float64(c.Route.Part*c.Peers) - (c.far-c.moving+m.Network.Latency)/c.far)
	return max(t, sends+float64(max(0, behind)*(c.moving+m.Take)))
}

// onCores is how long a stage takes where ranks share cores.
func (e *estimator) onCores(c *stageCost) float64 {
	turns := or(c.Turns, e.waits(c))
	if turns < 0 || c.Peers == 0 {
		turns = 0
	}
	if c.Passes && e.m.Cores > 2 { // those before and behind a rank run at the same time, so that they wait for each other
		turns = max(turns, 3./8)
	}
	chain := e.chain(c) + e.turns(c, turns)
	switch {
	case c.Peers > 0:
	case c.Only == Arrival: // all but one have copied before
		return chain
	case c.Only == Leaving: // others come to the next stage meanwhile
		return 0
	}
	return max(chain, c.use.cores*c.lanes, c.lanes*c.use.ports, c.lanes*c.use.memory)
}

// waits is how often a rank gives its core away, if nothing else is said. Of ranks that exchange something all but the
// last wait: that one finds it there, if not all have their turn at the same time.
func (e *estimator) waits(c *stageCost) float64 {
	if c.OneWay || c.Beside && c.Peers < float64(e.m.Cores) {
		return 1
	}
	return c.Peers / (c.Peers + 1)
}

// turns counts what a stage occupies cores for, if each of its receivers gives its own away so
// often, and returns what that adds to the longest path.
func (e *estimator) turns(c *stageCost, turns float64) float64 {
	if !e.shared {
		return 0
	}
	receivers := max(1, c.Peers/max(1, c.got))
	work := c.pairs * (c.cpu + float64(receivers*turns*e.m.Switch))
	c.use.cores = work / float64(e.m.Cores)
	if c.OneWay && c.Busy == Arrival && c.Share == 0 { // the rank that hears from most has a core with others of the mean
		others := float64(e.s.Host-e.m.Cores) / float64(e.m.Cores)
		c.use.cores = max(c.use.cores, c.use.rank+float64(others*(work-c.use.rank))/float64(e.s.Host-1))
	}
	return min(turns, 1) * e.m.Switch
}
