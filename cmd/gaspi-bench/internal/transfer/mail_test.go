package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Goal: one end sends first and the other answers, each message has a number of its own,
// and the first error ends the batch.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  bool
		failAt string
		want   string
	}{
		{"the end that begins", true, "", "send 2, receive 2, send 3, receive 3, send 4, receive 4"},
		{"the end that answers", false, "", "receive 2, send 2, receive 3, send 3, receive 4, send 4"},
		{"a send fails", true, "send 3", "send 2, receive 2, send 3"},
		{"a receive fails", true, "receive 3", "send 2, receive 2, send 3, receive 3"},
		{"an answer fails", false, "send 3", "receive 2, send 2, receive 3, send 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var did []string
			step := func(what string) func(context.Context, uint32) error {
				return func(_ context.Context, v uint32) error {
					did = append(did, fmt.Sprintf("%s %d", what, v))
					if did[len(did)-1] == c.failAt {
						return errors.New(c.failAt)
					}
					return nil
				}
			}
			m := &Mail{first: c.first}
			err := m.Rounds(t.Context(), step("send"), step("receive"))(3)
			if d := cmp.Diff(c.want, strings.Join(did, ", ")); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
			if (err != nil) != (c.failAt != "") || err != nil && err.Error() != c.failAt {
				t.Errorf("error %v, want %q", err, c.failAt)
			}
		})
	}
}

// An end is a contender of two ranks: rank 0's batch is looked at, rank 1 plays its part.
type end func(ctx context.Context, m *Mail) (func(int) error, error)

// ends are the batches that wait for a message or an answer of the peer.
func ends() map[string]end {
	return map[string]end{
		"latency": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return m.checked(m.Rounds(ctx, m.WriteNotify, m.AwaitNotification)), nil
		},
		"latency of a bare flag": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return m.Rounds(ctx, m.copyAndRaise, m.Reading(m.awaitFlag)), nil
		},
		"bandwidth": func(ctx context.Context, m *Mail) (func(int) error, error) { return (&stream{m, 4}).sender(ctx), nil },
		"bandwidth of copies": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return (&stream{m, 4}).bareSender(ctx), nil
		},
		"notifications": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return (&notifier{Mail: m}).sender(ctx), nil
		},
		"arriving writes": func(ctx context.Context, m *Mail) (func(int) error, error) { return (&stream{m, 4}).receiver(ctx), nil },
		"arriving copies": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return (&stream{m, 4}).bareReceiver(ctx), nil
		},
		"arriving notes": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return (&notifier{Mail: m}).receiver(ctx), nil
		},
		"arriving bare flags": arrivingFlags,
		"notes of bare flags": bareNotes,
		"a peer without answer": func(ctx context.Context, m *Mail) (func(int) error, error) {
			return m.Rounds(ctx, m.Notify, m.AwaitNotification), nil
		},
	}
}

func bareNotes(ctx context.Context, m *Mail) (func(int) error, error) {
	c := &notifier{Mail: m}
	var err error
	c.theirs, err = m.b.Flags(1-m.b.P.Rank(), limit.WindowFlags, NoteWindow)
	return c.bareSender(ctx), err
}

func arrivingFlags(ctx context.Context, m *Mail) (func(int) error, error) {
	c := &notifier{Mail: m}
	var err error
	c.mine, err = m.b.Flags(m.b.P.Rank(), limit.WindowFlags, NoteWindow)
	return c.bareReceiver(ctx), err
}

// Goal: a batch whose peer fails ends with an error and does not wait for ever.
func TestThePeerFails(t *testing.T) {
	for name, open := range ends() {
		t.Run(name, func(t *testing.T) {
			ended := false
			err := onRanks(t, 2, "loopback", limit.Page, func(ctx context.Context, b *measure.Bench) error {
				m, err := NewMail(b, 1-b.P.Rank(), 8, true)
				if err != nil {
					return err
				}
				run, err := open(ctx, m)
				if err != nil {
					return err
				}
				if err := b.P.Barrier(ctx, b.P.World()); err != nil {
					return err
				}
				if !m.first {
					return errors.New("broke midway")
				}
				err = run(1)
				ended = err != nil
				return err
			})
			if !ended {
				t.Error("the batch ended well")
			}
			if err == nil || err.Error() != "rank 1: broke midway" {
				t.Errorf("the job ended with %v", err)
			}
		})
	}
}

// damaged is a send of message v in which something else lies.
func (m *Mail) damaged(ctx context.Context, v uint32) error {
	limit.Stamp(m.out, v+100)
	if err := m.q.WriteNotify(m.dst, m.src, gaspi.Notification{ID: limit.NotePing, Value: gaspi.Value(v)}); err != nil {
		return err
	}
	return m.q.Wait(ctx)
}

// Goal: a message that arrives with other bytes is noticed, by every contender that
// looks at its messages. Rank 1 sends such a message to rank 0.
func TestDamagedMessages(t *testing.T) {
	for _, c := range []struct {
		name           string
		transport      string
		honest, broken end
		want           string
	}{
		{"latency", "loopback", ends()["latency"],
			func(ctx context.Context, m *Mail) (func(int) error, error) {
				return m.Rounds(ctx, m.damaged, m.AwaitNotification), nil
			}, "message 2 arrived with number 102 at its start and 102 at its end"},
		{"delivery of a bare flag", "loopback", ends()["latency of a bare flag"],
			func(ctx context.Context, m *Mail) (func(int) error, error) {
				return m.Rounds(ctx, m.raise, m.awaitFlag), nil
			}, "message 2 arrived with number 0 at its start and 0 at its end"},
		{"writes", "loopback", ends()["arriving writes"],
			func(ctx context.Context, m *Mail) (func(int) error, error) {
				return func(int) error { return m.damaged(ctx, m.seq.Next()) }, nil
			}, "message 2 arrived with number 102 at its start and 102 at its end"},
		{"copies", "loopback", ends()["arriving copies"],
			func(ctx context.Context, m *Mail) (func(int) error, error) {
				return func(int) error { return m.raise(ctx, m.seq.Next()) }, nil
			}, "message 2 arrived with number 0 at its start and 0 at its end"},
		{"messages over a connection", "tcp", wired(func(ctx context.Context, m *wiredMail) func(int) error { return m.receiver(ctx, 1) }),
			wired(func(ctx context.Context, m *wiredMail) func(int) error {
				return func(int) error { return m.sendMessage(ctx, m.seq.Next()+100) }
			}), "message 2 arrived with number 102 at its start and 102 at its end"},
		{"an answer over a connection", "tcp", wired(func(ctx context.Context, m *wiredMail) func(int) error { return m.sender(ctx, 1) }),
			wired(func(ctx context.Context, m *wiredMail) func(int) error {
				return func(int) error {
					if err := m.receiveMessage(ctx, 0); err != nil {
						return err
					}
					return m.Send(ctx, []byte{7, 0, 0, 0})
				}
			}), "the connection to compare with: answer 7 to message 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := onRanks(t, 2, c.transport, limit.Page, func(ctx context.Context, b *measure.Bench) error {
				m, err := NewMail(b, 1-b.P.Rank(), 64, c.transport == "loopback")
				if err != nil {
					return err
				}
				open := c.honest
				if !m.first {
					open = c.broken
				}
				run, err := open(ctx, m)
				if err != nil {
					return err
				}
				err = run(1)
				if m.first {
					return noticed(err)
				}
				// Rank 0 tells of the message; that nobody answers this one is not the point.
				<-ctx.Done()
				return nil
			})
			if want := "rank 0: " + c.want; err == nil || err.Error() != want {
				t.Errorf("the job ended with %v, want %q", err, want)
			}
		})
	}
}

// noticed returns an error in any case.
func noticed(err error) error {
	if err == nil {
		return errors.New("nothing was noticed")
	}
	return err
}

// wired makes an end of a connection beside the runtime.
func wired(batch func(ctx context.Context, m *wiredMail) func(int) error) end {
	return func(ctx context.Context, m *Mail) (func(int) error, error) {
		w, err := m.b.Connect(ctx, 1-m.b.P.Rank())
		if err != nil {
			return nil, err
		}
		return batch(ctx, &wiredMail{Mail: m, SocketPair: w}), nil
	}
}

// Goal: an end whose peer has ended since the two were found to be near is an error that
// says so, and none that waits at a flag that it does not have.
func TestThePeerIsGoneBeforeItsMemoryIsMapped(t *testing.T) {
	near, opened := false, error(nil)
	err := onRanks(t, 2, "loopback", limit.Page, func(ctx context.Context, b *measure.Bench) error {
		peer, part := b.Peer()
		shared, err := b.Nearby(ctx, peer, part)
		if err != nil || b.P.Rank() == 1 {
			return err
		}
		near = shared
		ctx, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		for opened == nil {
			if _, opened = NewMail(b, peer, 8, shared); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	gone, ok := errors.AsType[*gaspi.RankError](opened)
	if err != nil || !near || !ok || gone.Rank != 1 {
		t.Errorf("the job ended with %v; near %v; the end of rank 0 is opened with %v, want one that names rank 1", err, near, opened)
	}
}

// Goal: an end whose peer's memory cannot be mapped opens where nothing needs the mapping alone.
func TestThePeerIsFar(t *testing.T) {
	err := onRanks(t, 2, "tcp", limit.Page, func(ctx context.Context, b *measure.Bench) error {
		peer, _ := b.Peer()
		if _, err := NewMail(b, peer, 8, false); err != nil {
			return err
		}
		_, err := NewMail(b, peer, 8, true)
		if want := fmt.Sprintf("the memory of rank %d cannot be mapped, so there is no limit to compare with", peer); err == nil || err.Error() != want {
			t.Errorf("rank %d: an end that is near is opened with %v, want %q", b.P.Rank(), err, want)
		}
		return b.Leave(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
