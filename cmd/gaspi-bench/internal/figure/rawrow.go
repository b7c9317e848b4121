package figure

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// A RawRow is a row as one round measured it, or as the model priced it. Times are of an
// operation, in microseconds.
type RawRow struct {
	Point
	Round               int
	MinUS, P50US, P99US float64
	LateShare           float64 // of the messages of an emulated network
	Carried             bool    // by this host
}

// WriteCSV writes all that a part consists of, with a line of names first: the rows that were
// measured, or where a part has none, its tables.
func (p *Part) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if len(p.Rows) == 0 {
		for _, t := range p.Tables {
			records := append([][]string{{t.Title}, t.Head}, t.Rows...)
			if err := c.WriteAll(records); err != nil {
				return fmt.Errorf("table %q as CSV: %w", t.Title, err)
			}
		}
		return nil
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	records := [][]string{{"way", "line", "ranks", "bytes", "round", "min_us", "p50_us", "p99_us", "late_share", "carried"}}
	for _, r := range p.Rows {
		records = append(records, []string{
			p.Way.String(), r.Line, strconv.Itoa(r.Ranks), strconv.Itoa(r.Bytes), strconv.Itoa(r.Round),
			number(r.MinUS), number(r.P50US), number(r.P99US), number(r.LateShare), strconv.FormatBool(r.Carried),
		})
	}
	return c.WriteAll(records)
}
