package boot

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

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
