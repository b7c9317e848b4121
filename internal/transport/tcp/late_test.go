package tcp

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
)

// Goal: atomics at a peer that does not answer end, are told apart, and leave nothing
// behind: neither pending requests nor unsent ones.
func TestUnanswered(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		var ranks []*Transport
		transporttest.RunUnanswered(t, func(t *testing.T, n int) (all []transport.Transport) {
			ranks = join(t, n, func(r base.Rank, cfg *Config) {
				change(r, cfg)
				cfg.Connections = 1
			})
			for _, r := range ranks {
				all = append(all, r)
			}
			return all
		}, heapMemory, func([]transport.Transport) func() { return stall(t, ranks[1], 0, 0) })
		requests := &ranks[0].conns[1].Load().out.requests
		if n := requests.pending.Len(); n != 0 || requests.first != nil {
			t.Errorf("%d requests are pending, %v is unsent", n, requests.first)
		}
	})
}

// Goal: the context bounds the first use of a segment too. The request for its descriptor
// has no effect, so nothing is in doubt.
func TestUnansweredFirstUse(t *testing.T) {
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) { cfg.Connections = 1 })
	s := exposed(t, ranks[1], 1, 64)
	l, at := linkTo(t, ranks[0], 1), transport.Addr{Segment: 1, Offset: 8}
	ok(t, l.Ping(testenv.Context(t)))
	resume := stall(t, ranks[1], 0, 0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := l.Atomic(ctx, at, transport.FetchAdd, 7, 0)
	if _, doubt := errors.AsType[*base.InDoubtError](err); !errors.Is(err, context.DeadlineExceeded) || doubt {
		t.Errorf("%v, want the deadline and no doubt", err)
	}
	resume()
	if old, err := l.Atomic(testenv.Context(t), at, transport.FetchAdd, 1, 0); err != nil || old != 0 {
		t.Errorf("%d, %v; want 0", old, err)
	}
	word, err := s.Word(8)
	ok(t, err)
	if got := word.Load(); got != 1 {
		t.Errorf("the word holds %d, want 1", got)
	}
}

// Goal: the doubt ends with the peer, or with this rank.
func TestDoubtEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(ranks []*Transport)
		want error
	}{
		{"by the end of the peer", func(ranks []*Transport) { ranks[0].Lose(&base.RankError{Rank: 1, Reason: "killed"}) }, base.ErrRankDead},
		{"by Close", func(ranks []*Transport) { ranks[0].Close() }, base.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait for AnswerMost
			ranks := join(t, 2, func(_ base.Rank, cfg *Config) { cfg.Connections = 1 })
			exposed(t, ranks[1], 1, 64)
			l, at := linkTo(t, ranks[0], 1), transport.Addr{Segment: 1}
			_, err := l.Atomic(testenv.Context(t), at, transport.FetchAdd, 1, 0)
			ok(t, err)
			resume := stall(t, ranks[1], 0, 0)
			over, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = l.Atomic(over, at, transport.FetchAdd, 1, 0)
			doubt, is := errors.AsType[*base.InDoubtError](err)
			if !is {
				t.Fatalf("%v, want that it is in doubt", err)
			}
			ranks[0].parting = time.Millisecond
			c.end(ranks)
			for range 2 {
				if _, err := doubt.Wait(testenv.Context(t)); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			}
			resume()
		})
	}
}
