package socket

import "time"

// Metrics is what the system has measured of a TCP connection, from its beginning.
type Metrics struct {
	RTT    time.Duration // smoothed round trip as of now; 0 if there was none
	MinRTT time.Duration // shortest of the last minutes; 0 if there was none

	Acked    uint64 // bytes that the peer's system has acknowledged
	Received uint64 // bytes
	Segments uint64 // sent, with those that were sent again
	Arrived  uint64 // segments received
	Resent   uint64 // segments that were sent again

	Rate uint64        // bytes per second of the latest delivery
	Busy time.Duration // time with data that was not acknowledged
}
