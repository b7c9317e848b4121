package launcher

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A RankMeasures is what a rank has measured of its connections and processors, from its joining to its
// leaving or, of one that died, until half a second before or so.
type RankMeasures struct {
	Rank Rank   `json:"rank"`
	Host string `json:"host"`

	CPU         time.Duration `json:"cpu_ns"`      // its threads ran
	Delayed     time.Duration `json:"delayed_ns"`  // its threads could have run, and had no processor
	Voluntary   uint64        `json:"voluntary"`   // times that a thread waited, and another ran
	Involuntary uint64        `json:"involuntary"` // times that a thread could have run on, and another ran
	// NoDelays says that the system does not tell how long threads were delayed, and Delayed means
	// nothing.
	NoDelays bool `json:"no_delays,omitempty"`

	// Kernel is nil where nothing could be measured there; Missing says what it takes then.
	Kernel  *KernelTimes `json:"kernel,omitempty"`
	Missing string       `json:"missing,omitempty"`

	Links []RankLink `json:"links"` // its TCP connections with others, by their number
}

// A RankLink is what the system of a rank has measured of its TCP connections with another rank. Bytes and
// segments are those on the connections, with what belongs to the protocol.
type RankLink struct {
	Peer        Rank   `json:"peer"`
	Connections int    `json:"connections"`
	Samples     uint64 `json:"samples"` // of round trips, which the system smooths

	MinRTT  time.Duration `json:"min_rtt_ns"` // the shortest
	MeanRTT time.Duration `json:"mean_rtt_ns"`
	HighRTT time.Duration `json:"p99_rtt_ns"` // the 99th percentile, at most an eighth too long

	Acked    uint64        `json:"bytes_acked"`
	Received uint64        `json:"bytes_received"`
	Segments uint64        `json:"segments"` // sent, with those that were sent again
	Resent   uint64        `json:"resent"`   // segments that were sent again
	Rate     uint64        `json:"rate"`     // bytes per second of the fastest delivery that was seen
	Busy     time.Duration `json:"busy_ns"`  // of the busiest connection: time with data that was not acknowledged
}

// measuresFile makes the file in which ranks of this host tell what connections and processors do, or
// returns nil where that cannot be.
func measuresFile(rows, ranks int, log func(string)) *os.File {
	fd, err := sys.CreateMemory("gaspi-measures", int64(rows)*netstat.RowSize(ranks))
	if err != nil {
		log(fmt.Sprintf("ranks cannot tell what connections and processors do: %v", err))
		return nil
	}
	return os.NewFile(uintptr(fd), "measures")
}

// measured returns what each rank has measured, nil if none was asked to.
func (w *watch) measured() []RankMeasures {
	if !w.job.cfg.Measure {
		return nil
	}
	all := make([]RankMeasures, w.job.cfg.Ranks)
	var asked sync.WaitGroup
	for i, s := range w.job.sites {
		first := w.job.places[i].first
		asked.Go(func() {
			measured, kernel := s.Measured(), w.job.kernelReport(s)
			for n, m := range measured {
				r := measuresOf(m)
				if r.Missing = kernel.Missing; n < len(kernel.Ranks) && kernel.Ranks[n].Run != nil {
					r.Kernel = &kernel.Ranks[n]
				}
				all[int(first)+n] = r
			}
		})
	}
	asked.Wait()
	for r := range all {
		all[r].Rank, all[r].Host = Rank(r), w.job.hostOf(Rank(r))
	}
	return all
}

func measuresOf(m netstat.Measures) RankMeasures {
	r := RankMeasures{
		CPU: m.Processor.CPU, Delayed: m.Processor.Delayed, Voluntary: m.Processor.Voluntary, Involuntary: m.Processor.Involuntary,
		NoDelays: m.Processor.Unknown != 0,
	}
	for _, l := range m.Links {
		r.Links = append(r.Links, RankLink{
			Peer: Rank(l.Peer), Connections: int(l.Connections), Samples: l.Samples, MinRTT: l.MinRTT, MeanRTT: l.MeanRTT, HighRTT: l.HighRTT,
			Acked: l.Acked, Received: l.Received, Segments: l.Segments, Resent: l.Resent, Rate: l.Rate, Busy: l.Busy,
		})
	}
	return r
}

// kernelReport is what the kernel of a site has measured, as of the last Measured of that site.
func (j *job) kernelReport(s site) kernelReport {
	switch s := s.(type) {
	case *supervise.Ranks:
		return j.kernel.report(s)
	case *remote:
		return s.kernelReport()
	}
	return kernelReport{}
}
