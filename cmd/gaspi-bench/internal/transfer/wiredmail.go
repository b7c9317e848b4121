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
	return m.inTurn(ctx, m.windows(window, m.sendMessage), func(ctx context.Context, v uint32) error {
		err := m.Receive(ctx, m.ack[:])
		if got := binary.LittleEndian.Uint32(m.ack[:]); err == nil && got != v {
			err = fmt.Errorf("the connection to compare with: answer %d to message %d", got, v)
		}
		return err
	})
}

func (m *wiredMail) receiver(ctx context.Context, window int) func(int) error {
	return m.inTurn(ctx, m.Reading(m.windows(window, m.receiveMessage)), func(ctx context.Context, v uint32) error {
		binary.LittleEndian.PutUint32(m.ack[:], v)
		return m.Send(ctx, m.ack[:])
	})
}

// windows does something with each message of a window.
func (m *wiredMail) windows(window int, do func(context.Context, uint32) error) func(context.Context, uint32) error {
	return func(ctx context.Context, v uint32) error {
		for range window {
			if err := do(ctx, v); err != nil {
				return err
			}
		}
		return nil
	}
}
