package timeline

// A Ping is one question to a host and its answer. Times are nanoseconds; Sent and Received are of the
// clock here, Arrived and Answered of that there.
type Ping struct {
	Sent, Arrived, Answered, Received int64
}

// roundTrip is how long the two ways took.
func (p Ping) roundTrip() int64 { return p.Received - p.Sent - (p.Answered - p.Arrived) }

// An Offset says how far the clock of a host is ahead of the one here, at a time of its own.
type Offset struct {
	Ahead int64 // nanoseconds
	Error int64 // that it may be wrong by
	At    int64
}

// Measure returns the offset by the ping with the least round trip, as NTP does: were both ways equally
// long, it would be exact, and it is wrong by half of the round trip at most. Without pings it is zero.
func Measure(pings []Ping) Offset {
	if len(pings) == 0 {
		return Offset{}
	}
	best := pings[0]
	for _, p := range pings[1:] {
		if p.roundTrip() < best.roundTrip() {
			best = p
		}
	}
	return Offset{
		Ahead: (best.Arrived - best.Sent + best.Answered - best.Received) / 2,
		Error: (best.roundTrip() + 1) / 2, At: best.Arrived,
	}
}

// A Clock corrects the times of a host, by its offset at the begin of a job and at the end.
type Clock struct{ First, Last Offset }

// Here returns what the clock here was at a time of the host. Between the two offsets, and beyond
// them, the clocks run apart evenly.
func (c Clock) Here(t int64) int64 {
	ahead := c.First.Ahead
	if span := c.Last.At - c.First.At; span > 0 {
		ahead += int64(float64(c.Last.Ahead-c.First.Ahead) * float64(t-c.First.At) / float64(span))
	}
	return t - ahead
}

// Error returns by how much times may be wrong, in nanoseconds.
func (c Clock) Error() int64 { return max(c.First.Error, c.Last.Error) }
