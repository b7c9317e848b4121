package hoplite

// Stats are counts of what a rank did for the store since Open.
type Stats struct {
	Calls            uint64 // calls of the program that have begun
	MessagesSent     uint64 // messages of the protocol, to other members
	MessagesReceived uint64 // those from other members
	Chunks           uint64 // parts of objects that were sent
	BytesSent        uint64 // their size
	Folded           uint64 // bytes that were combined into another object
}

// Stats are this rank's counts.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}
