package emulation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Network
		back string // as String writes it
	}{
		{"latency=100us", Network{Latency: 100 * time.Microsecond, Loss: -1, Detect: defaultDetect}, "latency=100µs"},
		{"bandwidth=10Gbit/s", Network{Bandwidth: 1.25e9, Loss: -1, Detect: defaultDetect}, "latency=0s,bandwidth=1250MB/s"},
		{"bandwidth=1.5GiB/s", Network{Bandwidth: 1.5 * (1 << 30), Loss: -1, Detect: defaultDetect}, "latency=0s,bandwidth=1610.612736MB/s"},
		{" latency=1ms, bandwidth=150MB/s ,jitter=20us,overhead=5us,seed=7", Network{
			Latency: time.Millisecond, Bandwidth: 150e6, Jitter: 20 * time.Microsecond, Overhead: 5 * time.Microsecond, Seed: 7, Loss: -1, Detect: defaultDetect,
		}, "latency=1ms,bandwidth=150MB/s,overhead=5µs,jitter=20µs,seed=7"},
		{"latency=0s,loss-of-rank=3@2s,detect=1s", Network{Loss: 3, Silent: 2 * time.Second, Detect: time.Second}, "latency=0s,loss-of-rank=3@2s,detect=1s"},
	} {
		got, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, d)
		}
		if got.String() != c.back {
			t.Errorf("%s is written %s, want %s", c.text, got, c.back)
		}
		if again, err := Parse(c.back); err != nil || again != got {
			t.Errorf("%s read again: %v, %v", c.back, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `emulated network: "" has no value; expected fields such as latency=100us,bandwidth=150MB/s`,
		"latency":                        `emulated network: "latency" has no value; expected fields such as latency=100us,bandwidth=150MB/s`,
		"jitter=1us":                     `emulated network: "jitter=1us" has neither latency nor bandwidth; expected fields such as latency=100us,bandwidth=150MB/s`,
		"latency=1us,latency=2us":        `emulated network: "latency" is given twice`,
		"latency=-1us":                   `emulated network: latency: "-1us" is no time from 0 to 1h0m0s; expected such as 100us or 2ms`,
		"latency=2h":                     `emulated network: latency: "2h" is no time from 0 to 1h0m0s; expected such as 100us or 2ms`,
		"bandwidth=150":                  `emulated network: bandwidth: "150" is no bandwidth of at least 1MB/s; expected such as 150MB/s, 1.25GB/s or 10Gbit/s`,
		"bandwidth=NaNMB/s":              `emulated network: bandwidth: "NaNMB/s" is no bandwidth of at least 1MB/s; expected such as 150MB/s, 1.25GB/s or 10Gbit/s`,
		"bandwidth=0MB/s":                `emulated network: bandwidth: "0MB/s" is no bandwidth of at least 1MB/s; expected such as 150MB/s, 1.25GB/s or 10Gbit/s`,
		"latency=1us,seed=-1":            `emulated network: seed: "-1" is no whole number from 0`,
		"latency=1us,loss-of-rank=2":     `emulated network: loss-of-rank: "2": expected a rank and a time after its start, such as 3@2s`,
		"latency=1us,loss-of-rank=-1@1s": `emulated network: loss-of-rank: "-1@1s": expected a rank and a time after its start, such as 3@2s`,
		"latency=1us,loss=1":             `emulated network: there is no field "loss"; expected latency, bandwidth, overhead, jitter, seed, loss-of-rank or detect`,
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
