package live

import (
	"fmt"
	"strings"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A metric is one of Prometheus: its name, its meaning, and its values of a rank.
type metric struct {
	name, kind, help string
	values           func(v *launcher.RankActivity, add func(value any, labels ...string))
}

// states are those that a rank may be in.
var states = [...]string{"not joined", "computing", "waiting", "in collective", "silent", "left", "gone"}

// one is a metric with one value of each rank.
func one(name, kind, help string, of func(s *launcher.RankStats) any) metric {
	return metric{name, kind, help, func(v *launcher.RankActivity, add func(any, ...string)) { add(of(&v.Stats)) }}
}

// ofRanks are the metrics of ranks. Counters begin at 0 when a rank joins the job.
var ofRanks = []metric{
	{"gaspi_rank_state", "gauge", "1 for the state that the rank is in, else 0.", func(v *launcher.RankActivity, add func(any, ...string)) {
		for _, name := range states {
			is := 0
			if v.State == name {
				is = 1
			}
			add(is, "state", name)
		}
	}},
	{"gaspi_rank_wait_seconds", "gauge", "How long the rank has waited in the call that it is in, 0 if it does not.", func(v *launcher.RankActivity, add func(any, ...string)) {
		if v.Call == "" {
			add(0.0)
			return
		}
		add(v.Since.Seconds())
	}},
	{"gaspi_stale_reduction_clock", "gauge", "Calls of the stale-synchronous reduction of the rank, of several of the one with most, 0 without one.", func(v *launcher.RankActivity, add func(any, ...string)) {
		add(v.Clock)
	}},
	one("gaspi_run_seconds_total", "counter", "Time since the rank has joined the job.", func(s *launcher.RankStats) any { return s.Ran.Seconds() }),
	one("gaspi_waited_seconds_total", "counter", "Time that goroutines of the rank waited in calls that have ended.", func(s *launcher.RankStats) any { return s.Waited.Seconds() }),
	one("gaspi_writes_total", "counter", "Writes issued.", func(s *launcher.RankStats) any { return s.Writes }),
	one("gaspi_written_bytes_total", "counter", "Bytes of the writes issued.", func(s *launcher.RankStats) any { return s.BytesWritten }),
	one("gaspi_reads_total", "counter", "Reads issued.", func(s *launcher.RankStats) any { return s.Reads }),
	one("gaspi_read_bytes_total", "counter", "Bytes of the reads issued.", func(s *launcher.RankStats) any { return s.BytesRead }),
	one("gaspi_notifications_total", "counter", "Notifications issued without data.", func(s *launcher.RankStats) any { return s.Notifications }),
	one("gaspi_queue_waits_total", "counter", "Waits for a queue.", func(s *launcher.RankStats) any { return s.QueueWaits }),
	one("gaspi_queue_full_total", "counter", "Posts that were not issued because the queue was full.", func(s *launcher.RankStats) any { return s.QueueFull }),
	one("gaspi_atomics_total", "counter", "Atomic operations done.", func(s *launcher.RankStats) any { return s.Atomics }),
	one("gaspi_messages_total", "counter", "Passive messages sent and received.", func(s *launcher.RankStats) any { return s.Messages }),
	collective("gaspi_collective_calls_total", "Calls of a collective operation that an algorithm did.", func(c *launcher.CollectiveStats) any { return c.Calls }),
	collective("gaspi_collective_bytes_total", "Bytes of the rank's longest vector in those calls.", func(c *launcher.CollectiveStats) any { return c.Bytes }),
	collective("gaspi_collective_seconds_total", "Time that those calls took.", func(c *launcher.CollectiveStats) any { return c.Time.Seconds() }),
}

// collective is a metric of each collective operation and its algorithm.
func collective(name, help string, of func(*launcher.CollectiveStats) any) metric {
	return metric{name, "counter", help, func(v *launcher.RankActivity, add func(any, ...string)) {
		for i := range v.Stats.Collectives {
			c := &v.Stats.Collectives[i]
			add(of(c), "operation", c.Operation, "algorithm", c.Algorithm)
		}
	}}
}

// ofPeers are the metrics of pairs of ranks, of which there may be many.
var ofPeers = []metric{
	peer("gaspi_peer_writes_total", "Writes to the peer.", func(p *launcher.PeerStats) any { return p.Writes }),
	peer("gaspi_peer_written_bytes_total", "Bytes written to the peer.", func(p *launcher.PeerStats) any { return p.BytesWritten }),
	peer("gaspi_peer_reads_total", "Reads from the peer.", func(p *launcher.PeerStats) any { return p.Reads }),
	peer("gaspi_peer_read_bytes_total", "Bytes read from the peer.", func(p *launcher.PeerStats) any { return p.BytesRead }),
	peer("gaspi_peer_notifications_total", "Notifications to the peer without data.", func(p *launcher.PeerStats) any { return p.Notifications }),
	peer("gaspi_peer_queue_full_total", "Posts to the peer that were not issued because the queue was full.", func(p *launcher.PeerStats) any { return p.QueueFull }),
	peer("gaspi_peer_waited_seconds_total", "Time waited where the peer alone could end the wait.", func(p *launcher.PeerStats) any { return p.Waited.Seconds() }),
}

func peer(name, help string, of func(*launcher.PeerStats) any) metric {
	return metric{name, "counter", help, func(v *launcher.RankActivity, add func(any, ...string)) {
		for i := range v.Stats.Peers {
			p := &v.Stats.Peers[i]
			add(of(p), "peer", fmt.Sprint(p.Peer))
		}
	}}
}

// labelText is how a label is written between quotes.
var labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// appendMetrics appends the counters of a job in the text format of Prometheus, version 0.0.4, with those of
// pairs of ranks if peers is set.
func appendMetrics(b []byte, job launcher.JobView, peers bool) []byte {
	all := ofRanks
	if peers {
		all = append(all[:len(all):len(all)], ofPeers...)
	}
	for _, m := range all {
		b = fmt.Appendf(b, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for i := range job.Ranks {
			v := &job.Ranks[i]
			m.values(v, func(value any, labels ...string) {
				b = fmt.Appendf(b, `%s{rank="%d",host="%s"`, m.name, v.Rank, labelText.Replace(v.Host))
				for i := 0; i < len(labels); i += 2 {
					b = fmt.Appendf(b, `,%s="%s"`, labels[i], labelText.Replace(labels[i+1]))
				}
				b = fmt.Appendf(b, "} %v\n", value)
			})
		}
	}
	return b
}
