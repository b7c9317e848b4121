package netstat

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A Source asks for what the system has measured of each connection that is open. It is
// transport.Measurer.
type Source func(see func(r base.Rank, connection int, m socket.Metrics))

// The time between two samples is samplePeriod, and longer where there are so many connections that
// asking would take more than about a hundredth of it. A connection takes about a microsecond.
const (
	samplePeriod  = 50 * time.Millisecond
	perConnection = 100 * time.Microsecond
	// threadsEvery is at how many samples the times of threads are read, too, which takes some system calls
	// for each.
	threadsEvery = 10
)

// A Sampler keeps the row of a rank, from NewSampler to Close.
type Sampler struct {
	out    *RowWriter
	source Source
	over   chan struct{}
	work   sync.WaitGroup

	// The rest belongs to loop until Close.
	links   map[base.Rank]*linkSamples
	open    int // connections at the last sample
	threads threadSamples
}

// NewSampler writes rows by out, which it takes, until Close.
func NewSampler(out *RowWriter, source Source) *Sampler {
	s := &Sampler{out: out, source: source, over: make(chan struct{}), links: map[base.Rank]*linkSamples{}}
	s.threads.begin()
	s.work.Go(s.loop)
	return s
}

func (s *Sampler) loop() {
	for n := 1; ; n++ {
		wait := time.NewTimer(max(samplePeriod, time.Duration(s.open)*perConnection))
		select {
		case <-wait.C:
			s.sample(n%threadsEvery == 0)
		case <-s.over:
			wait.Stop()
			return
		}
	}
}

// Close writes the last row. The connections are still open. It is called once.
func (s *Sampler) Close() {
	close(s.over)
	s.work.Wait()
	s.sample(true)
	_ = s.out.Close()
}

// sample asks for what the connections did, now and then also for what the threads did, and writes the row
// then.
func (s *Sampler) sample(threads bool) {
	s.open = 0
	s.source(func(r base.Rank, connection int, m socket.Metrics) {
		s.open++
		l := s.links[r]
		if l == nil {
			l = &linkSamples{connections: map[int]socket.Metrics{}}
			s.links[r] = l
		}
		l.add(connection, m)
	})
	if !threads {
		return
	}
	s.threads.read()
	m := Measures{Processor: s.threads.since()}
	for _, r := range slices.Sorted(maps.Keys(s.links)) {
		m.Links = append(m.Links, s.links[r].measures(r))
	}
	_ = s.out.Write(m) // that it could not is nobody's loss but the reader's
}

// linkSamples is what was seen of the connections with a rank.
type linkSamples struct {
	connections map[int]socket.Metrics // as last seen
	trips       histogram
	least       time.Duration // 0 if there was none
	rate        uint64
}

// add takes a sample of a connection. The round trip of one on which nothing has moved is an old one.
func (l *linkSamples) add(connection int, m socket.Metrics) {
	last := l.connections[connection]
	l.connections[connection] = m
	if m.MinRTT > 0 && (l.least == 0 || m.MinRTT < l.least) {
		l.least = m.MinRTT
	}
	l.rate = max(l.rate, m.Rate)
	if m.RTT > 0 && m.Acked != last.Acked {
		l.trips.add(m.RTT)
	}
}

func (l *linkSamples) measures(peer base.Rank) LinkMeasures {
	m := LinkMeasures{
		Peer: uint32(peer), Connections: uint32(len(l.connections)), Rate: l.rate,
		Samples: l.trips.count, MinRTT: l.least, MeanRTT: l.trips.mean(), HighRTT: l.trips.quantile(0.99),
	}
	for _, c := range l.connections {
		m.Acked += c.Acked
		m.Received += c.Received
		m.Segments += c.Segments
		m.Resent += c.Resent
		m.Busy = max(m.Busy, c.Busy)
	}
	return m
}

// threadSamples is what was seen of the threads of this process.
type threadSamples struct {
	first   ProcessorTime
	now     ProcessorTime
	delays  map[int]time.Duration // of each thread that was seen, as last seen
	earlier time.Duration         // of threads that had the number of a later one
}

// begin makes times begin now.
func (t *threadSamples) begin() {
	t.delays = map[int]time.Duration{}
	t.read()
	t.first = t.now
}

// read asks the system.
func (t *threadSamples) read() {
	if use, err := process.MeasureProcessor(); err == nil {
		t.now.CPU, t.now.Voluntary, t.now.Involuntary = use.CPU, use.Voluntary, use.Involuntary
	}
	if err := process.RunDelays(t.see); err != nil {
		t.now.Unknown = 1
		return
	}
	t.now.Delayed = t.earlier
	for _, d := range t.delays {
		t.now.Delayed += d
	}
}

// see takes the delay of a thread.
func (t *threadSamples) see(thread int, delay time.Duration) {
	if last := t.delays[thread]; delay < last {
		t.earlier += last // another thread has its number now
	}
	t.delays[thread] = delay
}

// since returns the times since begin.
func (t *threadSamples) since() ProcessorTime {
	return ProcessorTime{
		CPU: t.now.CPU - t.first.CPU, Delayed: t.now.Delayed - t.first.Delayed,
		Voluntary: t.now.Voluntary - t.first.Voluntary, Involuntary: t.now.Involuntary - t.first.Involuntary,
		Unknown: t.now.Unknown,
	}
}
