package transfer

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
)

// wiredMail is mail whose limit goes over a wire.
type wiredMail struct {
	*Mail
	*limit.SocketPair
	ack [4]byte
}

func (m *wiredMail) sendMessage(ctx context.Context, v uint32) error {
	limit.Stamp(m.Mail.out, v)
	return m.Send(ctx, m.Mail.out)
}

func (m *wiredMail) receiveMessage(ctx context.Context, _ uint32) error {
	return m.Receive(ctx, m.Mail.in)
}

// sender sends windows of messages and waits for the answer to each.
func (m *wiredMail) sender(ctx context.Context, window int) func(int) error {
	return m.each(func(v uint32) error {
		limit.Stamp(m.Mail.out, v)
		for range window {
			if err := m.Send(ctx, m.Mail.out); err != nil {
				return err
			}
		}
		if err := m.Receive(ctx, m.ack[:]); err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint32(m.ack[:]); got != v {
			return fmt.Errorf("the connection to compare with: answer %d to message %d", got, v)
		}
		return nil
	})
}

func (m *wiredMail) receiver(ctx context.Context, window int) func(int) error {
	return m.each(func(v uint32) error {
		for range window {
			if err := m.Receive(ctx, m.Mail.in); err != nil {
				return err
			}
		}
		if err := limit.Verify(m.Mail.in, v); err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(m.ack[:], v)
		return m.Send(ctx, m.ack[:])
	})
}
