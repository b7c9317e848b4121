package object

import "time"

// StoreOptions are what the command line says about operations with objects.
type StoreOptions struct {
	// Arrive says that ranks join one after the other, interval apart, and put what they
	// have when they do.
	Arrive bool
	// Interval is the time between the arrivals of two ranks; 0 lets all come at once.
	Interval time.Duration
	Static   []string // algorithms of package collectives to measure too
	Chunk    uint64   // bytes; 0 for the store's default
	Window   int      // chunks; 0 for the default
	Inline   uint64   // bytes; 0 for the default
}
