package emulation

// An Emulator is an emulated network under way, at one rank.
type Emulator interface {
	// Network returns the network that is emulated.
	Network() Network
	// Punctuality returns how late events were since the last call with restart, or ever.
	Punctuality(restart bool) Punctuality
}

// A Status tells a rank of the network that is emulated around it; see gaspi.Proc.Emulation. The zero
// Status is that of a rank without one.
type Status struct{ of Emulator }

// Of returns the status of a rank with an emulator.
func Of(e Emulator) Status { return Status{e} }

// Network returns the network that is emulated between the ranks, false if none is.
func (s Status) Network() (Network, bool) {
	if s.of == nil {
		return Network{}, false
	}
	return s.of.Network(), true
}

// Punctuality returns how late, by the clock of the emulated network, messages of this rank were
// delivered and the rank itself went on: since it began, or since the last call of Restart. It is
// zero if no network is emulated.
func (s Status) Punctuality() Punctuality { return s.since(false) }

// Restart is Punctuality, which then begins anew.
func (s Status) Restart() Punctuality { return s.since(true) }

func (s Status) since(restart bool) Punctuality {
	if s.of == nil {
		return Punctuality{}
	}
	return s.of.Punctuality(restart)
}
