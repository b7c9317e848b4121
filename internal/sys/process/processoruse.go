package process

import "time"

// ProcessorUse is what a process has used of processors, from its beginning.
type ProcessorUse struct {
	CPU         time.Duration // of all threads
	Voluntary   uint64        // times that a thread waited, and another ran
	Involuntary uint64        // times that a thread could have run on, and another ran
}
