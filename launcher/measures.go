package launcher

import (
	"encoding/json"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
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

// A Prober has the kernel of this host measure what processes meet there. It is safe for concurrent use.
type Prober interface {
	// Add begins with a process.
	Add(pid int) error
	// Read returns what was measured of a process that was added, which may have ended.
	Read(pid int) (KernelTimes, error)
	// Close ends the measuring.
	Close()
}

// A KernelTimes is what a kernel has measured of a rank. Element n of a histogram counts times from 2^n ns to
// less than 2^(n+1) ns; the last one also all that are longer.
type KernelTimes struct {
	Run    []uint64 `json:"run"`    // from being able to run to running, of all threads
	Wake   []uint64 `json:"wake"`   // from the arrival of data to running of the thread that it has woken
	Resent uint64   `json:"resent"` // segments sent again
	// Resends are the first of these.
	Resends []Resend `json:"resends,omitempty"`
}

// A Resend is a segment that was sent again.
type Resend struct {
	At   time.Time `json:"at"`   // by the clock of the rank's host
	Port uint16    `json:"port"` // of the rank's side of the connection
}

// probing returns Config.Probe as ranks of a host take it.
func probing(open func() (Prober, error)) func() (supervise.Prober, error) {
	if open == nil {
		return nil
	}
	return func() (supervise.Prober, error) {
		p, err := open()
		return hostProber{p}, err
	}
}

// A hostProber is a Prober whose times agents send as they are.
type hostProber struct{ Prober }

// Read returns the KernelTimes of a process as JSON, nil if it has none.
func (p hostProber) Read(pid int) ([]byte, error) {
	times, err := p.Prober.Read(pid)
	if err != nil || times.Run == nil {
		return nil, err
	}
	return json.Marshal(times)
}

// measured returns what each rank has measured, nil if none was asked to.
func (w *watch) measured() []RankMeasures {
	if !w.job.cfg.Measure {
		return nil
	}
	all := make([]RankMeasures, w.job.cfg.Ranks)
	w.job.atSites(func(i int, s site) {
		measured, kernel := s.Measured()
		for n, m := range measured {
			r := measuresOf(m)
			if r.Missing = kernel.Missing; n < len(kernel.Ranks) && len(kernel.Ranks[n]) > 0 {
				if err := json.Unmarshal(kernel.Ranks[n], &r.Kernel); err != nil {
					r.Missing = err.Error()
				}
			}
			all[int(w.job.places[i].First)+n] = r
		}
	})
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
