package limit

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Meeting is the bare exchange of flags between all ranks.
type Meeting struct {
	b    *Memory
	seq  Counter
	mine []Flag // raised by the others
	bell []Flag // at the others, in the order of their distance
}

// NewMeeting finds the flags of a meeting, one from each rank to each other.
func NewMeeting(b *Memory) (*Meeting, error) {
	m := &Meeting{b: b}
	me, n := int(b.P.Rank()), b.P.Size()
	own, err := b.Flags(b.P.Rank(), rankFlags, n)
	if err != nil {
		return nil, err
	}
	for d := 1; d < n; d++ {
		other := (me + d) % n
		theirs, err := b.Flags(gaspi.Rank(other), rankFlags, n)
		if err != nil {
			return nil, err
		}
		m.mine = append(m.mine, &own[other])
		m.bell = append(m.bell, &theirs[me])
	}
	return m, nil
}

// Exchange is one barrier. A rank may be one ahead of another, and its flag then
// shows the next number.
func (m *Meeting) Exchange(ctx context.Context) error {
	v := m.seq.Next()
	for _, f := range m.bell {
		Raise(f, v)
	}
	for _, f := range m.mine {
		if err := m.b.awaitFrom(ctx, f, v); err != nil {
			return err
		}
	}
	return nil
}
