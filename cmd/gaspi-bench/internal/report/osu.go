package report

import (
	"fmt"
	"slices"
	"strings"
)

// osuLines are rows in the text format of the OSU micro-benchmarks: for each
// contender a header and lines of size and average. Sizes are as there: of a
// message, of the vector, or of one rank's block where each has one. Averages have
// more digits, because those of memory need them. Our rows are one contender, also
// where the algorithm changes with the size, unless apart says that each algorithm
// is one.
func osuLines(rows []Row, apart bool) []string {
	var lines []string
	for len(rows) > 0 {
		first := rows[0]
		same := func(r Row) bool {
			return r.Op == first.Op && r.Impl == first.Impl && r.Way == first.Way && r.Congestion == first.Congestion &&
				(r.Algorithm == first.Algorithm || r.Impl == ImplGaspi && !apart)
		}
		head := first
		if first.Impl == ImplGaspi && !apart {
			head.Algorithm = ""
		}
		lines = append(lines, osuHead(head)...)
		for _, r := range rows {
			if same(r) {
				lines = append(lines, osuLine(r))
			}
		}
		rows = slices.DeleteFunc(slices.Clone(rows), same)
		if len(rows) > 0 {
			lines = append(lines, "")
		}
	}
	return lines
}

// osuHead is what stands above the lines of a contender.
func osuHead(r Row) []string {
	who := strings.TrimSpace(r.Impl + " " + r.Version)
	head := []string{fmt.Sprintf("# gaspi-bench %s, %d ranks over %s: %s", r.Op, r.N, r.Transport, list(who, r.Congestion, r.Algorithm, r.Way))}
	switch {
	case isBandwidth(r):
		return append(head, fmt.Sprintf("%-10s%20s", "# Size", "Bandwidth (MB/s)"))
	case r.Bytes == 0:
		return append(head, "# Avg Latency(us)")
	}
	return append(head, fmt.Sprintf("%-10s%20s", "# Size", "Avg Latency(us)"))
}

func osuLine(r Row) string {
	size := r.Bytes
	switch r.Op {
	case "allgather", "gather", "scatter":
		size /= uint64(r.N)
	}
	switch {
	case r.Note != "":
		return fmt.Sprintf("# %d: %s", size, r.Note)
	case isBandwidth(r):
		return fmt.Sprintf("%-10d%20.2f", size, float64(r.Bytes)/r.MeanUS)
	case r.Bytes == 0:
		return fmt.Sprintf("%17.4f", r.MeanUS)
	}
	return fmt.Sprintf("%-10d%20.4f", size, r.MeanUS)
}

func isBandwidth(r Row) bool { return r.Op == "bandwidth" || r.Op == "put" }
