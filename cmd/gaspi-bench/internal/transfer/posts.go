package transfer

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Posts makes a batch of windows of posts that nobody looks at.
func (m *Mail) Posts(ctx context.Context, write bool) func(int) error {
	return func(n int) error {
		for range n {
			for i := range gaspi.NotificationID(NoteWindow) {
				note := gaspi.Notification{ID: limit.NoteCount + i, Value: 1}
				var err error
				if write {
					err = m.q.WriteNotify(m.dst, m.src, note)
				} else {
					err = m.q.Notify(m.dst, note)
				}
				if err != nil {
					return err
				}
			}
			if err := m.q.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// Looks makes a batch of looks at notifications.
func (m *Mail) Looks() func(int) error {
	return func(n int) error {
		for range n {
			for i := range gaspi.NotificationID(NoteWindow) {
				m.b.Seg.Peek(limit.NoteCount + i)
			}
		}
		return nil
	}
}

// Notify sends the notification of message v without data.
func (m *Mail) Notify(ctx context.Context, v uint32) error {
	return m.signal(ctx, limit.NotePing, gaspi.Value(v))
}

// signal sends a notification, which comes after all earlier writes of its queue, and waits
// until it has left.
func (m *Mail) signal(ctx context.Context, id gaspi.NotificationID, v gaspi.Value) error {
	if err := m.q.Notify(m.dst, gaspi.Notification{ID: id, Value: v}); err != nil {
		return err
	}
	return m.q.Wait(ctx)
}

// acknowledge answers message v.
func (m *Mail) acknowledge(ctx context.Context, v uint32) error {
	return m.signal(ctx, limit.NoteAck, gaspi.Value(v))
}

// awaitAck blocks until message v is answered.
func (m *Mail) awaitAck(ctx context.Context, v uint32) error {
	return m.b.Seg.WaitUntil(ctx, limit.NoteAck, gaspi.Equal, gaspi.Value(v))
}

// inTurn makes a batch of two steps for each message.
func (m *Mail) inTurn(ctx context.Context, one, other func(context.Context, uint32) error) func(int) error {
	return func(n int) error {
		for range n {
			v := m.seq.Next()
			if err := one(ctx, v); err != nil {
				return err
			}
			if err := other(ctx, v); err != nil {
				return err
			}
		}
		return nil
	}
}
