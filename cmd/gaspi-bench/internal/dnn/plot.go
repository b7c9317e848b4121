package dnn

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// Chart returns a bar for each result: how long a step computes, and how much
// communication adds to it. It cannot be drawn if there are no results.
func Chart(results []ContenderResult) chart.Bars {
	bars := chart.Bars{Axis: "time of a step (ms)"}
	compute, exposed := chart.Layer{Name: "computing"}, chart.Layer{Name: "exposed communication"}
	for _, r := range results {
		bars.Title = fmt.Sprintf("%s, %d ranks, batch %d per rank", r.Model, r.N, r.Batch)
		bars.Names = append(bars.Names, label(r))
		compute.Values = append(compute.Values, r.ComputeUS/1e3)
		exposed.Values = append(exposed.Values, r.ExposedUS/1e3)
	}
	bars.Layers = []chart.Layer{compute, exposed}
	return bars
}

// label names the bar of a result.
func label(r ContenderResult) string {
	if r.Mode == Silent {
		return string(r.Mode)
	}
	fused := "not fused"
	if r.Fuse > 0 {
		fused = "fused to " + bytesize.Format(uint64(r.Fuse))
	}
	return fmt.Sprintf("%s, %s, %s", r.Mode, r.Algorithm, fused)
}
