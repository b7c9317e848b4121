package boot

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// TestRankZeroHearsLast has rank 3 of a job without a launcher die. Rank 0, which holds the rendezvous
// and may exit because of it, hears of it in every way when the others have been told, and also
// when they do not read.
func TestRankZeroHearsLast(t *testing.T) {
	const size, dead = 4, 3
	for _, way := range []string{kindGone, kindBroken, kindNever} {
		for _, reads := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, others read: %v", way, reads), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := startServer(t, size)
					s.hosted = true
					heard := hearing(t, zeroOf(t, s), way, dead)
					var others []*bufio.Reader
					for r := base.Rank(1); r < dead; r++ {
						others = append(others, unread(t, s, r))
					}
					synctest.Wait()
					s.hub.leave(Failure{Rank: dead, Reason: "killed"})
					synctest.Wait()
					if reads {
						for _, from := range others {
							select {
							case err := <-heard:
								t.Fatalf("rank 0 has heard %v, and another rank has not", err)
							default:
							}
							if line, err := from.ReadString('\n'); err != nil || !strings.Contains(line, kindGone) {
								t.Fatalf("the first that another rank hears is %q, %v", line, err)
							}
							synctest.Wait()
						}
					}
					if err := <-heard; err == nil || !strings.Contains(err.Error(), "rank 3") {
						t.Errorf("rank 0 has heard %v, want that rank 3 is gone", err)
					}
				})
			})
		}
	}
}

// TestEndsAreToldTogether has most ranks of a job end while others do not read. These are told of all of
// them, in their order, in one message for those that ended alike one after the other.
func TestEndsAreToldTogether(t *testing.T) {
	const size, readers = 300, 3
	synctest.Test(t, func(t *testing.T) {
		s := startServer(t, size)
		var from []*bufio.Reader
		for r := range base.Rank(readers) {
			from = append(from, unread(t, s, r))
		}
		synctest.Wait()
		died := base.Rank(size - 7)
		var want []base.Rank
		for r := base.Rank(size - 1); r >= readers; r-- {
			f := Failure{Rank: r, Left: true, Reason: "exit status 0"}
			if r == died {
				f = Failure{Rank: r, Reason: "killed"}
			}
			s.hub.leave(f)
			if r == size-1 {
				synctest.Wait() // the first is on its way
			}
			want = append(want, r)
		}
		for r, lines := range from {
			var told []base.Rank
			for range 4 { // the first, those before the one that died, that one, and the rest
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				m, err := decode([]byte(strings.TrimSuffix(line, "\n")))
				if err != nil || m.Kind != kindGone || m.Left == (m.Rank == died) {
					t.Fatalf("rank %d is told %q, %v", r, line, err)
				}
				told = append(append(told, m.Rank), m.Also...)
			}
			if d := cmp.Diff(want, told); d != "" {
				t.Errorf("rank %d is told in four messages of (-want +got):\n%s", r, d)
			}
		}
	})
}

// TestRankHearsOfAllThatEnded reads a message about several ranks, and one about a rank that there is not.
func TestRankHearsOfAllThatEnded(t *testing.T) {
	b := newInbox(Info{Rank: 0, Size: 5})
	if err := b.take(message{Kind: kindGone, Rank: 3, Also: []base.Rank{1, 4, 3}, Left: true, Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	close(b.failures)
	var heard []Failure
	for f := range b.failures {
		heard = append(heard, f)
	}
	want := []Failure{{Rank: 3, Left: true, Reason: "r"}, {Rank: 1, Left: true, Reason: "r"}, {Rank: 4, Left: true, Reason: "r"}}
	if d := cmp.Diff(want, heard); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	c := &client{inbox: newInbox(Info{Rank: 0, Size: 5})}
	if err := c.handle(message{Kind: kindGone, Rank: 3, Also: []base.Rank{5}}); err == nil || !strings.Contains(err.Error(), "rank 5 of a job of 5") {
		t.Errorf("got %v, want an error about rank 5", err)
	}
}

// zeroOf attaches rank 0, as the server that it holds does.
func zeroOf(t *testing.T, s *Server) *client {
	t.Helper()
	ours, theirs := net.Pipe()
	if err := s.serve(0, ours, false); err != nil {
		t.Fatal(err)
	}
	c, err := dial(theirs, infoOf(s, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hearing returns what rank 0 hears, in one way, of the end of a rank.
func hearing(t *testing.T, c *client, way string, dead base.Rank) <-chan error {
	heard := make(chan error, 1)
	go func() {
		var err error
		switch way {
		case kindBroken:
			err = c.Fence(t.Context(), "f", "")
		case kindNever:
			_, err = c.Get(t.Context(), dead, "x")
		default:
			if f, ok := <-c.Failures(); ok {
				err = f.rankError()
			}
		}
		heard <- err
	}()
	return heard
}

// unread joins rank r over a network, and returns its end, of which only the greeting was read.
func unread(t *testing.T, s *Server, r base.Rank) *bufio.Reader {
	t.Helper()
	ours, theirs := net.Pipe()
	if err := s.serve(r, ours, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	line, err := encode(message{Kind: kindHello, Version: protocolVersion, Job: s.job, Rank: r, Size: s.hub.size})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Write(line); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(theirs)
	if line, err := from.ReadString('\n'); err != nil || !strings.Contains(line, kindHello) {
		t.Fatalf("greeted with %q, %v", line, err)
	}
	return from
}
