package dnn

import "time"

// Passes of a step: the backward pass works out two gradients per layer, that of
// its parameters and that of its input.
const (
	forwardWork  = 1
	backwardWork = 2
)

// A Trace is what a rank does in a step of training: computing for known times, and
// messages that become ready in between. It is the same on all ranks.
type Trace struct {
	Forward  time.Duration
	Backward []Stage // in the order of the backward pass: the last layer first
	Messages []Message
}

// A Stage is the backward pass of one layer.
type Stage struct {
	Compute time.Duration
	Ready   []int // messages that are complete after it, in order
}

// NewTrace lays out a step of a model for a batch of so many samples per rank, on a
// rank that does rate operations per second.
func NewTrace(m *NeuralNetwork, batch int, rate float64, fuse int) *Trace {
	lasts := func(flops float64) time.Duration {
		return time.Duration(flops * float64(batch) / rate * float64(time.Second))
	}
	t := &Trace{Forward: lasts(forwardWork * m.Flops()), Messages: m.Messages(fuse)}
	next := 0
	for l := len(m.Layers) - 1; l >= 0; l-- {
		s := Stage{Compute: lasts(backwardWork * m.Layers[l].Flops)}
		for ; next < len(t.Messages) && t.Messages[next].Layer == l; next++ {
			s.Ready = append(s.Ready, next)
		}
		t.Backward = append(t.Backward, s)
	}
	return t
}

// Compute is the time a step takes where communication is free.
func (t *Trace) Compute() time.Duration {
	sum := t.Forward
	for _, s := range t.Backward {
		sum += s.Compute
	}
	return sum
}

// A Mode is how reductions and computing go together.
type Mode string

// The modes.
const (
	// Silent does not communicate: what is left is the computing.
	Silent Mode = "compute only"
	// Blocking stops the computing for each reduction.
	Blocking Mode = "blocking"
	// Threaded makes one blocking call after the other beside the computing, as the
	// communication thread of Horovod does.
	Threaded Mode = "threaded"
	// Nonblocking starts each reduction as soon as its gradients are there, so that
	// several are under way.
	Nonblocking Mode = "nonblocking"
)

// Modes are those that communicate. The caller owns the slice.
func Modes() []Mode { return []Mode{Blocking, Threaded, Nonblocking} }

// Times are the durations of the parts of one step on one rank.
type Times struct {
	Step time.Duration // from its begin until the last gradient is reduced
	Comm time.Duration // in which at least one reduction was under way
}
