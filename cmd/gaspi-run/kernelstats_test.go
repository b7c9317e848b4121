package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		histogram []uint64
		q         float64
		want      time.Duration
	}{
		{nil, 0.5, 0}, {make([]uint64, 4), 0.5, 0}, {[]uint64{0, 1}, 0, 4}, {[]uint64{0, 1}, 1, 4},
		{[]uint64{99, 0, 0, 1}, 0.99, 2}, {[]uint64{98, 0, 0, 2}, 0.99, 16}, {[]uint64{1, 1, 1, 1}, 0.5, 4},
	} {
		if got := quantile(c.histogram, c.q); got != c.want {
			t.Errorf("quantile %g of %v is %v, want %v", c.q, c.histogram, got, c.want)
		}
	}
}

func TestShowKernel(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 67e6, time.UTC)
	histogram := func(bucket int) []uint64 {
		h := make([]uint64, 36)
		h[bucket] = 10
		return h
	}
	measured := []launcher.RankMeasures{
		{Rank: 0, Host: "a", Kernel: &launcher.KernelTimes{Run: histogram(15), Wake: histogram(14)}},
		{Rank: 1, Host: "a", Kernel: &launcher.KernelTimes{Run: histogram(22), Wake: histogram(2), Resent: 3,
			Resends: []launcher.Resend{{At: at, Port: 1}, {At: at.Add(time.Second), Port: 1}}}},
		{Rank: 2, Host: "b", Missing: "no right"}, {Rank: 3, Host: "b", Missing: "no right"}, {Rank: 4, Host: "c", Missing: "no right"},
		{Rank: 5, Host: "d", Missing: "no kernel"},
	}
	var text strings.Builder
	if err := showKernel(&text, measured); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"RANK HOST RUN DELAY MEDIAN P99 DATA TO AWAKE MEDIAN P99 RESENT FIRST LAST",
		"1 a <8.39ms <8.39ms <8ns <8ns 3 03:04:05.067 03:04:06.067",
		"0 a <65.5µs <65.5µs <32.8µs <32.8µs 0 - -",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	says := []string{
		"delays of single threads and of data are not measured on b and 1 more: no right",
		"delays of single threads and of data are not measured on d: no kernel",
	}
	if d := cmp.Diff(says, missing(measured)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	text.Reset()
	if err := showKernel(&text, measured[2:]); err != nil || text.Len() > 0 {
		t.Errorf("%v, %q of kernels that measured nothing", err, text.String())
	}
}
