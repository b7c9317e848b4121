package boot

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestEveryoneGetsWhatOthersPut(t *testing.T) {
	for _, size := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			forEachJob(t, size, func(t *testing.T, j *job) {
				value := func(r, i int) []byte { return fmt.Appendf(nil, "%d/%d", r, i) }
				const names = 10
				var all sync.WaitGroup
				for r, s := range j.sessions {
					all.Go(func() {
						for i := range names {
							if err := s.Put(fmt.Sprint(i), value(r, i)); err != nil {
								t.Errorf("rank %d: %v", r, err)
							}
						}
					})
					all.Go(func() {
						for i := range names * size * 2 {
							from, name := i%size, i/size%names
							got, err := s.Get(testenv.Context(t), base.Rank(from), fmt.Sprint(name))
							if err != nil || string(got) != string(value(from, name)) {
								t.Errorf("rank %d asks rank %d for %d: %q, %v", r, from, name, got, err)
								return
							}
							got[0] = 'x' // what a rank gets is its own
						}
					})
				}
				all.Wait()
			})
		})
	}
}

func TestPutAndGetEmptyAndLargestValues(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		big := make([]byte, MaxValue)
		big[MaxValue-1] = 1
		for name, value := range map[string][]byte{"nil": nil, "empty": {}, strings.Repeat("n", MaxName): big, "odd": {'\n', 0, 0xff, '"'}} {
			if err := j.sessions[0].Put(name, value); err != nil {
				t.Fatal(err)
			}
			got, err := j.sessions[1].Get(testenv.Context(t), 0, name)
			if err != nil || got == nil || string(got) != string(value) {
				t.Errorf("%.10s: %d bytes, %v; want %d bytes", name, len(got), err, len(value))
			}
		}
	})
}

func TestGetIsResumableAndCached(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		s := j.sessions[1]
		for range 3 {
			if _, err := s.Get(over(), 0, "x"); err == nil {
				t.Fatal("it had a value before one was put")
			}
		}
		value := []byte("v")
		if err := j.sessions[0].Put("x", value); err != nil {
			t.Fatal(err)
		}
		value[0] = 'w' // the session has its own copy
		for range 2 {
			if got, err := s.Get(testenv.Context(t), 0, "x"); err != nil || string(got) != "v" {
				t.Fatalf("%q, %v", got, err)
			}
		}
		if got, err := s.Get(over(), 0, "x"); err != nil || string(got) != "v" {
			t.Errorf("%q, %v; what has come needs no more time", got, err)
		}
		j.leave(Failure{Rank: 0, Reason: "exit status 3"})
		if got, err := s.Get(testenv.Context(t), 0, "x"); err != nil || string(got) != "v" {
			t.Errorf("%q, %v; what was put stays", got, err)
		}
	})
}

func TestPutAndGetRefusals(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		s := j.sessions[0]
		if err := s.Put("x", nil); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, key string
			size      int
			want      string
		}{
			{"twice", "x", 0, "another name"},
			{"empty name", "", 0, "1 to 256 bytes"},
			{"not UTF-8", "a\xff", 0, "UTF-8"},
			{"long value", "y", MaxValue + 1, "at most 524288"},
		} {
			if err := s.Put(c.key, make([]byte, c.size)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("put %s: %v, want an error with %q", c.name, err, c.want)
			}
		}
		for _, r := range []base.Rank{-1, 2} {
			if _, err := s.Get(testenv.Context(t), r, "x"); !errors.Is(err, base.ErrBadRank) {
				t.Errorf("get from rank %d: %v, want ErrBadRank", r, err)
			}
		}
		if _, err := s.Get(testenv.Context(t), 1, ""); err == nil || !strings.Contains(err.Error(), "1 to 256 bytes") {
			t.Errorf("get without a name: %v", err)
		}
	})
}

func TestPutTooMany(t *testing.T) {
	l := NewLocal(1)
	s := l.Session(0)
	for i := range maxPuts {
		if err := s.Put(fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put("one more", nil); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("%v, want the limit", err)
	}
}

func TestGetNamesTheRankThatIsGone(t *testing.T) {
	forEachJob(t, 3, func(t *testing.T, j *job) {
		waiting := make(chan error)
		j.sessions[0].Get(over(), 2, "x")
		go func() {
			_, err := j.sessions[0].Get(testenv.Context(t), 2, "x")
			waiting <- err
		}()
		j.leave(Failure{Rank: 2, Reason: "exit status 3"})
		_, later := j.sessions[1].Get(testenv.Context(t), 2, "x")
		for when, err := range map[string]error{"waiting when it went": <-waiting, "asked later": later} {
			var got *base.RankError
			if !errors.As(err, &got) || *got != (base.RankError{Rank: 2, Reason: "exit status 3"}) {
				t.Errorf("%s: %v", when, err)
			}
		}
		// The others' values come as before.
		if err := j.sessions[1].Put("x", []byte("v")); err != nil {
			t.Fatal(err)
		}
		if got, err := j.sessions[0].Get(testenv.Context(t), 1, "x"); err != nil || string(got) != "v" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestFence(t *testing.T) {
	forEachJob(t, 5, func(t *testing.T, j *job) {
		for round := range 3 { // the same name again is another fence
			if err := j.sessions[0].Fence(over(), "f", "w"); err == nil {
				t.Fatalf("round %d: a fence let rank 0 pass alone", round)
			}
			var all sync.WaitGroup
			for r, s := range j.sessions {
				all.Go(func() {
					if err := s.Fence(testenv.Context(t), "f", "w"); err != nil {
						t.Errorf("rank %d: %v", r, err)
					}
				})
			}
			all.Wait()
		}
	})
}

func TestFenceComparesWords(t *testing.T) {
	long := strings.Repeat("é", MaxWord/2)
	for _, c := range []struct {
		name  string
		words []string
		want  []string
	}{
		{"two", []string{"a", "a", "b", "c"}, []string{"rank 0 says a, rank 2 says b"}},
		{"empty", []string{"", "", "", "b"}, []string{`rank 0 says "", rank 3 says b`}},
		{"first", []string{"a", "b", "b", "b"}, []string{"rank 0 says a, rank 1 says b"}},
		{"long", []string{long, long, long[2:], long}, []string{"rank 0 says éé", "rank 2 says éé"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			forEachJob(t, len(c.words), func(t *testing.T, j *job) {
				var all sync.WaitGroup
				for r, s := range j.sessions {
					all.Go(func() {
						err := s.Fence(testenv.Context(t), "f", c.words[r])
						for _, want := range c.want {
							if !errors.Is(err, base.ErrMismatch) || !strings.Contains(err.Error(), want) {
								t.Errorf("rank %d: %v, want ErrMismatch with %q", r, err, want)
							}
						}
					})
				}
				all.Wait()
			})
		})
	}
}

func TestFenceNamesTheRankThatIsGone(t *testing.T) {
	forEachJob(t, 3, func(t *testing.T, j *job) {
		want := &base.RankError{Rank: 2, Reason: "exit status 3"}
		j.sessions[0].Fence(over(), "f", "")
		j.leave(Failure{Rank: want.Rank, Reason: want.Reason})
		for r, s := range j.sessions[:2] {
			var got *base.RankError
			if err := s.Fence(testenv.Context(t), "f", ""); !errors.As(err, &got) {
				t.Errorf("rank %d: %v", r, err)
			} else if d := cmp.Diff(want, got); d != "" {
				t.Errorf("rank %d (-want +got):\n%s", r, d)
			}
		}
	})
}

func TestFenceRefusals(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		for _, c := range []struct{ name, fence, word, part, want string }{
			{"empty name", "", "", "", "1 to 256 bytes"},
			{"long word", "f", strings.Repeat("w", MaxWord+1), "", "at most 1024 bytes"},
			{"not UTF-8", "f", "a\xff", "", "UTF-8"},
			{"long part", "f", "", strings.Repeat("p", MaxPart+1), "at most 128 bytes"},
			{"two lines", "f", "", "p\nq", "without line feeds"},
		} {
			if _, err := j.sessions[0].Gather(testenv.Context(t), c.fence, c.word, c.part); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
			}
		}
	})
}

func TestAllRanksHaveOneKey(t *testing.T) {
	forEachJob(t, 3, func(t *testing.T, j *job) {
		for r, s := range j.sessions {
			if s.Credentials().Key != j.sessions[0].Credentials().Key {
				t.Errorf("rank %d has another key than rank 0", r)
			}
		}
		if NewLocal(1).Session(0).Credentials().Key == j.sessions[0].Credentials().Key {
			t.Error("another job has the same key")
		}
	})
}

// TestMessagesPerRankAreFew counts what a fence and a get cost on the wire.
func TestMessagesPerRankAreFew(t *testing.T) {
	h := newHub(4)
	sinks := make([]countingSink, 4)
	for r := range sinks {
		h.attach(base.Rank(r), &sinks[r])
	}
	for r := range base.Rank(4) {
		if err := errors.Join(h.put(r, "x", nil), h.come(r, "f", "w", "")); err != nil {
			t.Fatal(err)
		}
	}
	for r, s := range sinks {
		if s.told != 1 {
			t.Errorf("rank %d was told %d things by 4 puts and a fence, want 1", r, s.told)
		}
	}
}

type countingSink struct{ told int }

func (s *countingSink) tell(message) { s.told++ }
