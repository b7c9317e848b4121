package emulate

import "sync"

// slow ends operations that have not ended below when their time has come, one after
// the other.
type slow struct {
	t *Transport

	mu      sync.Mutex
	some    *sync.Cond
	waiting []*packetTrain // guarded by mu
	closed  bool           // guarded by mu
}

func newSlow(t *Transport) *slow {
	s := &slow{t: t}
	s.some = sync.NewCond(&s.mu)
	return s
}

// add takes an operation.
func (s *slow) add(m *packetTrain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, m)
	s.some.Signal()
}

// loop ends operations until close.
func (s *slow) loop() {
	for m := s.take(); m != nil; m = s.take() {
		err := s.t.wait(m.flow.inner)
		n := s.t.nic
		n.mu.Lock()
		m.flow.slow--
		if m.held {
			n.completeLocked(m, err)
		}
		n.mu.Unlock()
	}
}

// take is the next operation, nil once there is none and none will come.
func (s *slow) take() *packetTrain {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 {
		if s.closed {
			return nil
		}
		s.some.Wait()
	}
	m := s.waiting[0]
	s.waiting = s.waiting[1:]
	return m
}

func (s *slow) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.some.Broadcast()
}
