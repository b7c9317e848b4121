package live

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/launcher"
)

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	helpLine   = regexp.MustCompile(`^# HELP (\S+) (.+)$`)
	typeLine   = regexp.MustCompile(`^# TYPE (\S+) (counter|gauge)$`)
	sampleLine = regexp.MustCompile(`^([^{ ]+)(?:\{(.*)\})? (\S+)$`)
	labelPair  = regexp.MustCompile(`^([^=]+)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"`)
)

// checkMetrics returns what is wrong with a text in the format of Prometheus, version 0.0.4, of counters and
// gauges, by its rules and its conventions for names; and its samples, by series.
func checkMetrics(text string) (map[string]float64, error) {
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line does not end")
	}
	samples, done := map[string]float64{}, map[string]bool{}
	name, kind, helped := "", "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case helpLine.MatchString(line):
			if helped = helpLine.FindStringSubmatch(line)[1]; done[helped] {
				return nil, fmt.Errorf("%q: a second time", line)
			}
		case typeLine.MatchString(line):
			m := typeLine.FindStringSubmatch(line)
			if name, kind = m[1], m[2]; done[name] || name != helped || !metricName.MatchString(name) {
				return nil, fmt.Errorf("%q: a second time, without its help, or no name", line)
			}
			if (kind == "counter") != strings.HasSuffix(name, "_total") {
				return nil, fmt.Errorf("%q: counters, and they alone, are called _total", line)
			}
			done[name] = true
		case strings.HasPrefix(line, "#") || line == "":
			return nil, fmt.Errorf("%q: expected HELP or TYPE", line)
		default:
			m := sampleLine.FindStringSubmatch(line)
			if m == nil || m[1] != name {
				return nil, fmt.Errorf("%q: expected a sample of %s", line, name)
			}
			if err := checkLabels(m[2]); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			value, err := strconv.ParseFloat(m[3], 64)
			if err != nil || kind == "counter" && value < 0 {
				return nil, fmt.Errorf("%q: value %v, %v", line, value, err)
			}
			series := m[1] + "{" + m[2] + "}"
			if _, twice := samples[series]; twice {
				return nil, fmt.Errorf("%q: a second time", line)
			}
			samples[series] = value
		}
	}
	return samples, nil
}

func checkLabels(text string) error {
	var names []string
	for text != "" {
		m := labelPair.FindStringSubmatch(text)
		if m == nil || !labelName.MatchString(m[1]) || strings.HasPrefix(m[1], "__") || slices.Contains(names, m[1]) {
			return fmt.Errorf("labels from %q on", text)
		}
		names = append(names, m[1])
		text = text[len(m[0]):]
		if rest, more := strings.CutPrefix(text, ","); more && rest != "" {
			text = rest
		} else if text != "" {
			return fmt.Errorf("labels from %q on", text)
		}
	}
	return nil
}

// aJob is one of three ranks: one computes, one waits in a call, one has told nothing.
func aJob() launcher.JobView {
	return launcher.JobView{
		At: time.Unix(1000, 0), Longest: 90 * time.Second, Cause: "rank 0 computes", Details: "RANK\n0",
		Ranks: []launcher.RankActivity{
			{Rank: 0, Host: `a "quoted" \ host`, State: "computing", Since: time.Second, Clock: 412, Stats: launcher.RankStats{
				Ran: 100 * time.Second, Waited: 10 * time.Second, Writes: 3, BytesWritten: 1 << 40,
				Peers: []launcher.PeerStats{
					{Peer: 1, Writes: 2, BytesWritten: 1000, Waited: 1500 * time.Millisecond},
					{Peer: 2, Reads: 1, BytesRead: 50, Notifications: 4, QueueFull: 5},
				},
				Collectives: []launcher.CollectiveStats{{Operation: "allreduce", Algorithm: "ring x4", Calls: 7, Bytes: 56, Time: 2 * time.Second}},
			}},
			{Rank: 1, Host: "b", State: "waiting", Call: "Proc.Barrier of world", Place: "x/main.go:3", From: "rank 0", Since: 90 * time.Second, Stats: launcher.RankStats{
				Rank: 1, Collectives: []launcher.CollectiveStats{
					{Operation: "allreduce", Algorithm: "ring x4", Calls: 7, Bytes: 56, Time: time.Second},
					{Operation: "barrier", Algorithm: "tree", Calls: 1, Time: 5 * time.Second},
				},
			}},
			{Rank: 2, Host: "b", State: "not joined", Stats: launcher.RankStats{Rank: 2}},
		},
	}
}

func TestMetrics(t *testing.T) {
	samples, err := checkMetrics(string(appendMetrics(nil, aJob(), true)))
	if err != nil {
		t.Fatal(err)
	}
	const of0 = `{rank="0",host="a \"quoted\" \\ host"`
	for series, want := range map[string]float64{
		`gaspi_rank_state` + of0 + `,state="computing"}`:                                         1,
		`gaspi_rank_state` + of0 + `,state="silent"}`:                                            0,
		`gaspi_rank_state{rank="2",host="b",state="not joined"}`:                                 1,
		`gaspi_rank_wait_seconds` + of0 + `}`:                                                    0,
		`gaspi_rank_wait_seconds{rank="1",host="b"}`:                                             90,
		`gaspi_stale_reduction_clock` + of0 + `}`:                                                412,
		`gaspi_stale_reduction_clock{rank="1",host="b"}`:                                         0,
		`gaspi_run_seconds_total` + of0 + `}`:                                                    100,
		`gaspi_waited_seconds_total` + of0 + `}`:                                                 10,
		`gaspi_written_bytes_total` + of0 + `}`:                                                  1 << 40,
		`gaspi_collective_calls_total` + of0 + `,operation="allreduce",algorithm="ring x4"}`:     7,
		`gaspi_collective_seconds_total{rank="1",host="b",operation="barrier",algorithm="tree"}`: 5,
		`gaspi_peer_written_bytes_total` + of0 + `,peer="1"}`:                                    1000,
		`gaspi_peer_waited_seconds_total` + of0 + `,peer="1"}`:                                   1.5,
		`gaspi_peer_queue_full_total` + of0 + `,peer="2"}`:                                       5,
	} {
		if got, there := samples[series]; !there || got != want {
			t.Errorf("%s is %v (there: %v), want %v", series, got, there, want)
		}
	}
	few, err := checkMetrics(string(appendMetrics(nil, aJob(), false)))
	if err != nil {
		t.Fatal(err)
	}
	for series := range few {
		if strings.HasPrefix(series, "gaspi_peer") {
			t.Errorf("%s was not asked for", series)
		}
	}
	if want := 3*(len(states)+13) + 3*3; len(few) != want {
		t.Errorf("%d series, want %d", len(few), want)
	}
}

// TestCheckMetrics breaks rules of the format one by one: the check that other tests rely on finds each.
func TestCheckMetrics(t *testing.T) {
	const head = "# HELP a_total x\n# TYPE a_total counter\n"
	if got, err := checkMetrics(head + `a_total{b="\\\"\n",c=""} 1e+06` + "\n"); err != nil || !cmp.Equal(got, map[string]float64{`a_total{b="\\\"\n",c=""}`: 1e6}) {
		t.Errorf("%v, %v", got, err)
	}
	for name, text := range map[string]string{
		"no end":                 head + "a_total 1",
		"no type":                "a_total 1\n",
		"no help":                "# TYPE a_total counter\na_total 1\n",
		"twice":                  head + head,
		"a series twice":         head + "a_total 1\na_total 2\n",
		"another metric":         head + "b_total 1\n",
		"no value":               head + "a_total\n",
		"a word":                 head + "a_total one\n",
		"a negative counter":     head + "a_total -1\n",
		"a counter without name": "# HELP a x\n# TYPE a counter\na 1\n",
		"a gauge called total":   "# HELP a_total x\n# TYPE a_total gauge\na_total 1\n",
		"an unknown type":        "# HELP a_total x\n# TYPE a_total many\na_total 1\n",
		"a bad name":             "# HELP 1_total x\n# TYPE 1_total counter\n1_total 1\n",
		"a bad label":            head + `a_total{1="x"} 1` + "\n",
		"a label twice":          head + `a_total{b="x",b="y"} 1` + "\n",
		"a reserved label":       head + `a_total{__b="x"} 1` + "\n",
		"an open label":          head + `a_total{b="x} 1` + "\n",
		"a bad escape":           head + `a_total{b="\x"} 1` + "\n",
		"a comma too much":       head + `a_total{b="x",} 1` + "\n",
		"an empty line":          head + "\n",
	} {
		if got, err := checkMetrics(text); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
