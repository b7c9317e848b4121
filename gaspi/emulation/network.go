package emulation

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A Network is a network between ranks of one host, each behind a card of its own. Parse makes it
// from text.
type Network struct {
	// Latency is from the moment a message begins to leave a card to the moment its
	// first byte reaches the other.
	Latency time.Duration
	// Bandwidth is the bytes per second of a card in each direction; 0 means that
	// there is no limit.
	Bandwidth float64
	// Overhead is what a message costs the sender before it reaches the card: two
	// messages leave a rank no closer to each other.
	Overhead time.Duration
	// Jitter is added to the latency of a message, evenly distributed from 0.
	Jitter time.Duration
	// Seed is what jitter is drawn from.
	Seed uint64
	// Loss is the rank that falls silent Silent after it started; -1 for none.
	Loss   base.Rank
	Silent time.Duration
	// Detect is how long after that its peers take it for lost.
	Detect time.Duration
}

// defaultDetect is about what a heartbeat on a quick network takes.
const defaultDetect = 100 * time.Millisecond

// example is a network that Parse accepts, for error messages.
const example = "latency=100us,bandwidth=150MB/s"

// Parse reads "latency=100us,bandwidth=150MB/s" and, each if wanted, "jitter=20us",
// "overhead=5us", "seed=7", "loss-of-rank=3@2s" and "detect=500ms".
func Parse(text string) (Network, error) {
	n := Network{Loss: -1, Detect: defaultDetect}
	seen := make(map[string]bool)
	for field := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(field), "=")
		if !ok {
			return Network{}, fmt.Errorf("emulated network: %.80q has no value; expected fields such as %s", field, example)
		}
		if seen[name] {
			return Network{}, fmt.Errorf("emulated network: %.40q is given twice", name)
		}
		seen[name] = true
		if err := n.set(name, value); err != nil {
			return Network{}, fmt.Errorf("emulated network: %w", err)
		}
	}
	if !seen["latency"] && !seen["bandwidth"] {
		return Network{}, fmt.Errorf("emulated network: %.80q has neither latency nor bandwidth; expected fields such as %s", text, example)
	}
	return n, nil
}

// set sets one field.
func (n *Network) set(name, value string) (err error) {
	switch name {
	case "latency":
		n.Latency, err = parseTime(value)
	case "bandwidth":
		n.Bandwidth, err = parseRate(value)
	case "overhead":
		n.Overhead, err = parseTime(value)
	case "jitter":
		n.Jitter, err = parseTime(value)
	case "detect":
		n.Detect, err = parseTime(value)
	case "seed":
		n.Seed, err = strconv.ParseUint(value, 10, 64)
		if err != nil {
			err = fmt.Errorf("%.40q is no whole number from 0", value)
		}
	case "loss-of-rank":
		n.Loss, n.Silent, err = parseLoss(value)
	default:
		return fmt.Errorf("there is no field %.40q; expected latency, bandwidth, overhead, jitter, seed, loss-of-rank or detect", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// longest keeps sums of times far from overflow.
const longest = time.Hour

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("%.40q is no time from 0 to %v; expected such as 100us or 2ms", text, longest)
	}
	return d, nil
}

// parseLoss reads "3@2s".
func parseLoss(text string) (base.Rank, time.Duration, error) {
	number, when, ok := strings.Cut(text, "@")
	r, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || r < 0 {
		return -1, 0, fmt.Errorf("%.40q: expected a rank and a time after its start, such as 3@2s", text)
	}
	at, err := parseTime(when)
	return base.Rank(r), at, err
}

// A rateUnit is a unit of bandwidth and its bytes per second.
type rateUnit struct {
	name  string
	bytes float64
}

// rateUnits returns the units, those first whose names end like others'.
func rateUnits() []rateUnit {
	return []rateUnit{
		{"Kibit/s", 1 << 10 / 8.0}, {"Mibit/s", 1 << 20 / 8.0}, {"Gibit/s", 1 << 30 / 8.0},
		{"kbit/s", 1e3 / 8}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}, {"bit/s", 1.0 / 8},
		{"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30},
		{"kB/s", 1e3}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"B/s", 1},
	}
}

// Bandwidths that make sense: a message of a GiB takes less than longest, and a byte
// at least a thousandth of a nanosecond.
const (
	leastRate = 1e6
	mostRate  = 1e15
)

func parseRate(text string) (float64, error) {
	for _, u := range rateUnits() {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		rate := x * u.bytes
		if err != nil || math.IsNaN(rate) || rate < leastRate || rate > mostRate {
			break
		}
		return rate, nil
	}
	return 0, fmt.Errorf("%.40q is no bandwidth of at least 1MB/s; expected such as 150MB/s, 1.25GB/s or 10Gbit/s", text)
}

// String is the network as Parse reads it.
func (n Network) String() string {
	parts := []string{"latency=" + n.Latency.String()}
	if n.Bandwidth > 0 {
		parts = append(parts, "bandwidth="+strconv.FormatFloat(n.Bandwidth/1e6, 'f', -1, 64)+"MB/s")
	}
	if n.Overhead > 0 {
		parts = append(parts, "overhead="+n.Overhead.String())
	}
	if n.Jitter > 0 {
		parts = append(parts, "jitter="+n.Jitter.String(), "seed="+strconv.FormatUint(n.Seed, 10))
	}
	if n.Loss >= 0 {
		parts = append(parts, fmt.Sprintf("loss-of-rank=%d@%v", n.Loss, n.Silent), "detect="+n.Detect.String())
	}
	return strings.Join(parts, ",")
}
