package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

// Columns of the table of rows beside peers.
const peerFormat = "%-13s %7s  %-*s %-33s%11s %11s %11s %11s %9s %9s %6s"

// PeerLines are the table of rows.
func PeerLines(rows []Row) []string {
	wide := 16
	for _, r := range rows {
		wide = max(wide, len(implementation(r)))
	}
	lines := []string{Trimmed(fmt.Sprintf(peerFormat, "op", "bytes", wide, "impl", "how", "min us", "p50 us", "p99 us", "mean us", "+-95%", "cpu s/GB", "rounds"))}
	for _, r := range rows {
		bytes := "-"
		if r.Bytes > 0 {
			bytes = bytesize.Format(r.Bytes)
		}
		how := list(r.Congestion, r.Algorithm, r.Way)
		if r.Note != "" {
			lines = append(lines, Trimmed(fmt.Sprintf("%-13s %7s  %-*s %-33s %s", r.Op, bytes, wide, implementation(r), how, r.Note)))
			continue
		}
		interval := "-"
		if len(r.Rounds) > 1 {
			interval = Number(r.MeanCI95US)
		}
		lines = append(lines, Trimmed(fmt.Sprintf(peerFormat, r.Op, bytes, wide, implementation(r), how,
			Number(r.MinUS), Number(r.P50US), Number(r.P99US), Number(r.MeanUS), interval, optional(r.CPUSPerGB), fmt.Sprint(len(r.Rounds)))))
	}
	return lines
}

// implementation names whose row it is, with the version of a peer.
func implementation(r Row) string {
	if r.Version == "" || r.Impl == ImplGaspi {
		return r.Impl
	}
	return r.Impl + " " + r.Version
}

// ComparisonLines are the closing table of an operation.
func ComparisonLines(op string, all []Comparison) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(c Comparison) bool { return c.Op != op })
	if len(all) == 0 {
		return nil
	}
	head := fmt.Sprintf("%7s %11s", "bytes", ImplGaspi)
	for _, p := range all[0].Peers {
		head += fmt.Sprintf(" %*s", p.width(), p.label())
	}
	lines := []string{
		op + ": p50 in microseconds, and the better peer's time by ours (above 1, ours is faster)",
		head + fmt.Sprintf(" %8s %15s %11s %8s  %s", "ratio", "of rounds", "limit", "of limit", "better peer"),
	}
	for _, c := range all {
		lines = append(lines, Trimmed(c.line(all[0].Peers)))
	}
	var words []string
	for _, m := range Means(op, all) {
		words = append(words, fmt.Sprintf("%s %.2f", m.Of, m.Ratio))
		if m.Sizes < len(all) {
			words[len(words)-1] += fmt.Sprintf(" (%d of %d sizes)", m.Sizes, len(all))
		}
	}
	if len(words) > 0 && all[0].Bytes > 0 {
		lines = append(lines, "geometric mean of ratios: "+strings.Join(words, ", "))
	}
	return lines
}

// width returns the width of a peer's column in characters.
func (p Challenge) width() int { return max(11, len(p.label())) }

// cell is the time of a peer, or why there is none.
func (p Challenge) cell() string {
	if p.US > 0 {
		return Number(p.US)
	}
	why, _, _ := strings.Cut(p.Note, " (")
	return why
}

// line is a line of the closing table, which has columns of these peers. A size that a run
// which was interrupted did not get to has none of them.
func (c Comparison) line(columns []Challenge) string {
	bytes := "-"
	if c.Bytes > 0 {
		bytes = bytesize.Format(c.Bytes)
	}
	line := fmt.Sprintf("%7s %11s", bytes, Number(c.GaspiUS))
	for _, column := range columns {
		cell := "-"
		if i := slices.IndexFunc(c.Peers, func(p Challenge) bool { return p.label() == column.label() }); i >= 0 {
			cell = c.Peers[i].cell()
		}
		line += fmt.Sprintf(" %*s", column.width(), cell)
	}
	ratio, spread := "-", "-"
	if c.Better >= 0 {
		ratio, spread = fmt.Sprintf("%.2f", c.Ratio), fmt.Sprintf("%.2f to %.2f", c.RatioLow, c.RatioHigh)
	}
	line += fmt.Sprintf(" %8s %15s", ratio, spread)
	limit, ofLimit := "-", "-"
	if c.LimitUS > 0 {
		limit, ofLimit = Number(c.LimitUS), fmt.Sprintf("%.2f", c.GaspiUS/c.LimitUS)
	}
	line += fmt.Sprintf(" %11s %8s", limit, ofLimit)
	if c.Better >= 0 {
		p := c.Peers[c.Better]
		line += "  " + list(p.label(), p.Algorithm, p.Way)
	}
	return line
}
