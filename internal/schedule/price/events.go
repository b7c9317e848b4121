package price

// An event is something that happens at a time: a rank goes on, or, if id is
// negative, message ^id reaches the ports of its node.
type event struct {
	at  float64
	seq uint32 // of two at one time, the one that was foreseen first
	id  int32
}

// events is a heap with the earliest event first. It is written out here because
// container/heap would allocate each event and call through an interface: half
// of the time of a prediction.
type events struct {
	all []event
	seq uint32
}

func (e event) before(f event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// push foresees an event.
func (q *events) push(at float64, id int32) {
	q.seq++
	e := event{at, q.seq, id}
	q.all = append(q.all, e)
	i := len(q.all) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(q.all[up]) {
			break
		}
		q.all[i] = q.all[up]
		i = up
	}
	q.all[i] = e
}

// pop takes the earliest event; there is one.
func (q *events) pop() event {
	first, n := q.all[0], len(q.all)-1
	e := q.all[n]
	q.all = q.all[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && q.all[down+1].before(q.all[down]) {
			down++
		}
		if !q.all[down].before(e) {
			break
		}
		q.all[i] = q.all[down]
		i = down
	}
	q.all[i] = e
	return first
}

// due reports whether something happens before a time, so that what happens then
// must wait.
func (q *events) due(before float64) bool { return len(q.all) > 0 && q.all[0].at < before }
