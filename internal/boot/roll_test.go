package boot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMissingText(t *testing.T) {
	for want, missing := range map[string][]base.Rank{
		"rank 2 (1 of 40 is missing)":                                      {2},
		"ranks 0 and 2 (2 of 40 are missing)":                              {0, 2},
		"ranks 1-3, 7, 9 and 10 (6 of 40 are missing)":                     {1, 2, 3, 7, 9, 10},
		"ranks 0, 2, 4, 6, 8, 10, 12, 14 and others (9 of 40 are missing)": {0, 2, 4, 6, 8, 10, 12, 14, 16},
	} {
		if got := missingText(missing, 40); got != want {
			t.Errorf("%v: %q, want %q", missing, got, want)
		}
	}
}

// rollCall runs AwaitAll of a job of 3 ranks with a limit while script plays, and returns
// what was said, each with its time, until it returned.
func rollCall(t *testing.T, limit time.Duration, script func(s *Server, stop chan struct{})) []string {
	var said []string
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer("j", 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		begun, stop := time.Now(), make(chan struct{})
		note := func(line string) { said = append(said, fmt.Sprintf("%v: %s", time.Since(begun), line)) }
		go script(s, stop)
		s.AwaitAll(stop, limit, func(line string) {
			if note(line); testenv.Complaints(line+"\n") != "" {
				t.Errorf("tests take %q for a complaint", line)
			}
		})
		note("done")
		for _, f := range s.hub.gone {
			if f != nil {
				note(fmt.Sprintf("rank %d: %s", f.Rank, f.Reason))
			}
		}
	})
	return said
}

// TestBeginning has ranks of a job come to where all meet, one by one.
func TestBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer("j", 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		check := func(since []time.Time, absent ...base.Rank) {
			t.Helper()
			gotSince, gotAbsent := s.Beginning()
			if d := cmp.Diff(since, gotSince); d != "" {
				t.Errorf("waiting (-want +got):\n%s", d)
			}
			if d := cmp.Diff(absent, gotAbsent); d != "" {
				t.Errorf("absent (-want +got):\n%s", d)
			}
		}
		come := func(r base.Rank) {
			t.Helper()
			if err := s.hub.come(r, "system", "", ""); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second) // sleep: by the clock of the bubble
		}
		check(nil, 0, 1, 2)
		s.roll.join(2)
		check(nil, 0, 1)
		come(2)
		check([]time.Time{{}, {}, begun}, 0, 1)
		s.roll.join(0)
		come(0)
		check([]time.Time{begun.Add(time.Second), {}, begun}, 1)
		s.roll.join(1)
		check([]time.Time{begun.Add(time.Second), {}, begun})
		come(1)
		check(nil)
	})
}

func TestRollCall(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  time.Duration
		script func(s *Server, stop chan struct{})
		want   string
	}{
		{"all come at once", time.Hour, func(s *Server, _ chan struct{}) {
			for r := range base.Rank(3) {
				s.roll.join(r)
			}
		}, "0s: done"},
		{"one comes late", time.Hour, func(s *Server, _ chan struct{}) {
			s.roll.join(0)
			s.roll.join(1)
			s.roll.join(1)                // again
			time.Sleep(131 * time.Second) // sleep: it comes late, by the clock of the bubble
			s.roll.join(2)
		}, `10s: waiting for rank 2 (1 of 3 is missing) for 10 s
1m10s: waiting for rank 2 (1 of 3 is missing) for 70 s
2m10s: waiting for rank 2 (1 of 3 is missing) for 130 s
2m11s: done`},
		{"some never come", 30 * time.Second, func(s *Server, _ chan struct{}) { s.roll.join(0) },
			`10s: waiting for ranks 1 and 2 (2 of 3 are missing) for 10 s
30s: done
30s: rank 1: it has not joined: waiting for ranks 1 and 2 (2 of 3 are missing) ended after 30s, the limit of GASPI_JOIN_TIMEOUT; rank 0 has come
30s: rank 2: it has not joined: waiting for ranks 1 and 2 (2 of 3 are missing) ended after 30s, the limit of GASPI_JOIN_TIMEOUT; rank 0 has come`},
		{"some are refused", 30 * time.Second, func(s *Server, _ chan struct{}) {
			s.unresolved = errors.New("lookup h: no such host")
			s.roll.join(0)
			s.roll.join(1)
			for n := range 3 {
				s.noteRefusal("10.0.0.7", fmt.Errorf("reason %d", n))
			}
		}, `10s: waiting for rank 2 (1 of 3 is missing) for 10 s
30s: done
30s: rank 2: it has not joined: waiting for rank 2 (1 of 3 is missing) ended after 30s, the limit of GASPI_JOIN_TIMEOUT; ranks 0 and 1 have come; 3 connections were refused, the first from 10.0.0.7: reason 0; rank 0 cannot find where it is to be reached itself: lookup h: no such host`},
		{"nobody joins at all", 0, func(s *Server, stop chan struct{}) { // programs that are no ranks
			s.roll.drop(1)
			time.Sleep(time.Hour) // sleep: by the clock of the bubble
			close(stop)
		}, "1h0m0s: done"},
		{"one ends without joining", 0, func(s *Server, _ chan struct{}) {
			s.roll.join(0)
			time.Sleep(5 * time.Second) // sleep: by the clock of the bubble
			s.roll.drop(2)
			time.Sleep(6 * time.Second) // sleep: by the clock of the bubble
			s.roll.join(1)
		}, "10s: waiting for rank 1 (1 of 3 is missing) for 10 s\n11s: done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, strings.Join(rollCall(t, c.limit, c.script), "\n")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
