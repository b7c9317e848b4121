package supervise

import "errors"

// ErrEnded says that the ranks were told to end before all were started.
var ErrEnded = errors.New("the job has ended before all ranks were started")

// A StartError says in one sentence why no rank of a program can be started.
type StartError struct {
	Kind     error // that it wraps
	Sentence string
}

// Error returns the sentence.
func (e *StartError) Error() string { return e.Sentence }

// Unwrap returns the kind.
func (e *StartError) Unwrap() error { return e.Kind }
