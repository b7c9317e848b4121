package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// asking starts a server with sessions of two ranks, attached and over a network.
func asking(t *testing.T, test func(t *testing.T, s *Server, ranks []Session)) {
	t.Run("wire", func(t *testing.T) {
		s := startServer(t, 2)
		test(t, s, []Session{join(t, s, 0), join(t, s, 1)})
	})
	t.Run("network", func(t *testing.T) {
		s, gate := startRendezvous(t, 2, false)
		test(t, s, []Session{joinOverNetwork(t, s, gate, 0), joinOverNetwork(t, s, gate, 1)})
	})
}

// TestAsk asks ranks for short, long, no and too long answers, several at a time.
func TestAsk(t *testing.T) {
	asking(t, func(t *testing.T, s *Server, ranks []Session) {
		ctx := testenv.Context(t)
		if _, err := s.Ask(ctx, 1, "early"); err == nil || !strings.Contains(err.Error(), "answers nothing yet") {
			t.Errorf("before OnAsk: %v", err)
		}
		long := bytes.Repeat([]byte("0123456789abcdef"), 3*MaxValue/16+1)
		for r, session := range ranks {
			session.(Answerer).OnAsk(func(_ context.Context, what string) ([]byte, error) {
				switch what {
				case "nothing":
					return nil, nil
				case "refused":
					return nil, errors.New("not that")
				case "long":
					return long, nil
				case "too long":
					return make([]byte, MaxAnswer+1), nil
				}
				return fmt.Appendf(nil, "%d says %s", r, what), nil
			})
		}
		var all sync.WaitGroup
		for r := range base.Rank(2) {
			for _, c := range []struct{ what, want, err string }{
				{"this", fmt.Sprintf("%d says this", r), ""}, {"nothing", "", ""}, {"long", string(long), ""},
				{"refused", "", "not that"}, {"too long", "", "at most"},
			} {
				all.Go(func() {
					got, err := s.Ask(ctx, r, c.what)
					if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
						t.Errorf("rank %d, %s: %d bytes, %v", r, c.what, len(got), err)
					}
				})
			}
		}
		all.Wait()
		if _, err := s.Ask(ctx, 2, "this"); !errors.Is(err, base.ErrBadRank) {
			t.Errorf("a rank that is none: %v", err)
		}
		if _, err := s.Ask(ctx, 0, strings.Repeat("x", MaxName+1)); err == nil {
			t.Error("a question that is too long was sent")
		}
		if n := len(s.questions.open); n != 0 {
			t.Errorf("%d questions are still open", n)
		}
	})
}

// TestAskedRankLeaves has a rank leave while it answers: whoever asks is told, and so is what answers.
func TestAskedRankLeaves(t *testing.T) {
	asking(t, func(t *testing.T, s *Server, ranks []Session) {
		begun, ended := make(chan struct{}), make(chan struct{})
		ranks[1].(Answerer).OnAsk(func(ctx context.Context, _ string) ([]byte, error) {
			close(begun)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		})
		told := make(chan error, 1)
		go func() {
			_, err := s.Ask(testenv.Context(t), 1, "x")
			told <- err
		}()
		<-begun
		ranks[1].Close()
		if err := <-told; err == nil {
			t.Error("the question had an answer")
		}
		<-ended
		if _, err := s.Ask(testenv.Context(t), 1, "x"); err == nil {
			t.Error("a rank that has left has answered")
		}
	})
}

// TestAskGivesUp ends the context of a question that has no answer, and asks more than are answered at a time.
func TestAskGivesUp(t *testing.T) {
	asking(t, func(t *testing.T, s *Server, ranks []Session) {
		begun, release := make(chan struct{}, maxAnswering), make(chan struct{})
		ranks[0].(Answerer).OnAsk(func(context.Context, string) ([]byte, error) {
			begun <- struct{}{}
			<-release
			return []byte("late"), nil
		})
		ctx, cancel := context.WithCancel(testenv.Context(t))
		var all sync.WaitGroup
		for range maxAnswering {
			all.Go(func() {
				if _, err := s.Ask(ctx, 0, "x"); !errors.Is(err, context.Canceled) {
					t.Errorf("a question that is given up: %v", err)
				}
			})
			<-begun
		}
		if _, err := s.Ask(ctx, 0, "one more"); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("one question too many: %v", err)
		}
		cancel()
		all.Wait()
		close(release)
	})
}

// TestAnswersOfOthers has a rank answer what it was not asked.
func TestAnswersOfOthers(t *testing.T) {
	var q questions
	number, one := q.begin(1)
	for name, m := range map[string]struct {
		r base.Rank
		m message
	}{
		"of another rank": {0, message{Kind: kindAnswer, Number: number}},
		"too long":        {1, message{Kind: kindAnswer, Number: number, Value: make([]byte, MaxAnswer+1)}},
	} {
		if err := q.answer(m.r, m.m); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	if err := q.answer(1, message{Kind: kindAnswer, Number: number + 1}); err != nil {
		t.Errorf("an answer that nobody waits for: %v", err)
	}
	q.lose(1)
	if <-one.done; one.err == nil {
		t.Error("the question to a rank that is gone has an answer")
	}
}
