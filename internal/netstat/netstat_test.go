package netstat

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// full is a row in which everything is set.
func full(links int) Measures {
	m := Measures{Processor: ProcessorTime{CPU: 1, Delayed: 2, Voluntary: 3, Involuntary: 4, Unknown: 1}}
	for i := range links {
		m.Links = append(m.Links, LinkMeasures{
			Peer: uint32(i), Connections: 4, Samples: 5, MinRTT: 6, MeanRTT: 7, HighRTT: 8,
			Acked: 9, Received: 10, Segments: 11, Resent: 12, Rate: 13, Busy: 14,
		})
	}
	return m
}

func TestRow(t *testing.T) {
	for links := range 3 {
		b := full(links).Append(nil)
		if int64(len(b)) != RowSize(links+1) {
			t.Errorf("%d bytes with %d links, want %d", len(b), links, RowSize(links+1))
		}
		got, err := Parse(b)
		if d := cmp.Diff(full(links), got); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		b[len(b)-1]++
		if _, err := Parse(b); !errors.Is(err, status.ErrTorn) {
			t.Errorf("a row that was changed: %v", err)
		}
	}
	if _, err := Parse(status.Seal(nil, magic, make([]byte, 3))); err == nil {
		t.Error("3 bytes are a row")
	}
	if _, err := Parse(make([]byte, RowSize(1))); !IsNone(err) {
		t.Errorf("zeros: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(full(2).Append(nil))
	f.Add(full(0).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(m.Append(nil))
		if d := cmp.Diff(m, again); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	})
}

// inherited makes a file of rows, and the environment by which a process finds it.
func inherited(t *testing.T, rows, ranks int) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := file.Truncate(int64(rows) * RowSize(ranks)); err != nil {
		t.Fatal(err)
	}
	again, err := os.OpenFile(file.Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() }) // closed before, if it was inherited
	t.Setenv(EnvFD, strconv.Itoa(int(again.Fd())))
	return file
}

func TestInherit(t *testing.T) {
	const rows, ranks = 2, 5
	if w, err := Inherit(0, rows, ranks); w != nil || err != nil {
		t.Fatalf("without a variable: %v, %v", w, err)
	}
	inherited(t, rows, ranks)
	if w, err := Inherit(0, rows, ranks+1); w != nil || err == nil {
		t.Errorf("a file of another job: %v, %v", w, err)
	}
	inherited(t, rows, ranks)
	if w, err := Inherit(rows, rows, ranks); w != nil || err == nil {
		t.Errorf("a row behind the last: %v, %v", w, err)
	}
	file := inherited(t, rows, ranks)
	w, err := Inherit(1, rows, ranks)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(full(ranks - 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Read(file, 1, ranks)
	if d := cmp.Diff(full(ranks-1), got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if _, err := Read(file, 0, ranks); !IsNone(err) {
		t.Errorf("the other row: %v", err)
	}
}

func TestBuckets(t *testing.T) {
	last := -1
	check := func(micros uint32) {
		t.Helper()
		at := bucketOf(micros)
		if at < last || at >= buckets || uint64(micros) > bucketEnd(at) || at > 0 && uint64(micros) <= bucketEnd(at-1) {
			t.Fatalf("%d us are in bucket %d, which ends with %d", micros, at, bucketEnd(at))
		}
		if float64(bucketEnd(at)) > 1.125*float64(micros) && micros > 0 {
			t.Fatalf("bucket %d ends with %d, more than an eighth beyond %d", at, bucketEnd(at), micros)
		}
		last = at
	}
	for micros := range uint32(5000) {
		check(micros)
	}
	for shift := 13; shift < 32; shift++ {
		for _, near := range []uint32{1<<shift - 1, 1 << shift, 1<<shift + 1<<(shift-3) - 1, 1<<shift + 1<<(shift-3)} {
			check(near)
		}
	}
	check(1<<32 - 1)
	if last != buckets-1 {
		t.Errorf("the longest is in bucket %d of %d", last, buckets)
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	if h.mean() != 0 || h.quantile(0.99) != 0 {
		t.Errorf("of nothing: %v, %v", h.mean(), h.quantile(0.99))
	}
	for _, n := range rand.Perm(1000) {
		h.add(time.Duration(n+1) * time.Microsecond)
	}
	if h.mean() != 500500*time.Nanosecond || h.least != time.Microsecond || h.most != time.Millisecond {
		t.Errorf("mean %v, from %v to %v", h.mean(), h.least, h.most)
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 511, 0.99: 1000, 1: 1000} {
		if got := h.quantile(q); got != want*time.Microsecond {
			t.Errorf("quantile %g is %v, want %v us", q, got, int(want))
		}
	}
}

// TestSampler has a source tell of connections that move, stand still and are gone.
func TestSampler(t *testing.T) {
	const us = time.Microsecond
	file := inherited(t, 1, 4)
	w, err := Inherit(0, 1, 4)
	if err != nil || w == nil {
		t.Skipf("no row can be inherited on this system: %v", err)
	}
	s := &Sampler{out: w, over: make(chan struct{}), links: map[base.Rank]*linkSamples{}}
	s.threads.begin()
	for _, seen := range []map[int]socket.Metrics{
		{0: {RTT: 10 * us, MinRTT: 10 * us, Acked: 1, Segments: 1, Rate: 5}},
		{0: {RTT: 30 * us, MinRTT: 8 * us, Acked: 2, Segments: 3, Resent: 1, Rate: 4, Busy: 7}},
		{0: {RTT: 30 * us, MinRTT: 8 * us, Acked: 2, Segments: 3, Resent: 1, Rate: 4, Busy: 7}, 1: {Received: 6, Busy: 5}},
		{1: {RTT: 80 * us, MinRTT: 80 * us, Acked: 10, Received: 7, Segments: 2, Busy: 6}},
	} {
		s.source = func(see func(base.Rank, int, socket.Metrics)) {
			for c, m := range seen {
				see(3, c, m)
			}
		}
		s.sample(false)
	}
	s.source = func(see func(base.Rank, int, socket.Metrics)) { see(1, 0, socket.Metrics{}) }
	s.Close()
	got, err := Read(file, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := []LinkMeasures{
		{Peer: 1, Connections: 1},
		{Peer: 3, Connections: 2, Samples: 3, MinRTT: 8 * us, MeanRTT: 40 * us, HighRTT: 80 * us, Acked: 12, Received: 7, Segments: 5, Resent: 1, Rate: 5, Busy: 7},
	}
	if d := cmp.Diff(want, got.Links); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestThreads has threads end, and others take their numbers.
func TestThreads(t *testing.T) {
	var th threadSamples
	th.delays = map[int]time.Duration{}
	for _, seen := range []map[int]time.Duration{{1: 5, 2: 10}, {1: 7, 2: 3}, {1: 7}, {1: 8, 2: 4}} {
		for thread, d := range seen {
			th.see(thread, d)
		}
	}
	if sum := th.earlier + th.delays[1] + th.delays[2]; sum != 22 {
		t.Errorf("%d, want 8 of thread 1, 10 and 4 of those with number 2", sum)
	}
}
