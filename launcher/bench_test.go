package launcher

import (
	"io"
	"testing"
)

// BenchmarkStartStop measures a whole job of 4 ranks that do nothing, and how
// long it takes until all of them have been executed and have ended.
func BenchmarkStartStop(b *testing.B) {
	var last float64
	for b.Loop() {
		result, err := Run(b.Context(), Config{Program: "true", Ranks: 4, Stdout: io.Discard, Stderr: io.Discard})
		if err != nil || result.ExitCode != 0 {
			b.Fatalf("%v, %+v", err, result)
		}
		for _, e := range result.Ranks {
			last = max(last, e.After.Seconds()*1e3)
		}
	}
	b.ReportMetric(last, "ms-to-last-exit-max")
}
