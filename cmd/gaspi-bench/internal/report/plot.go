package report

import (
	"io"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// plotRows draws medians over sizes: a panel for each operation, a curve for each
// contender, of a peer its best. Bands go from the least to the largest median of a
// round. Our rows are one contender unless apart says that each algorithm is one.
func plotRows(file, title string, rows []Row, apart bool) error {
	drawing := chart.Chart{Title: title}
	for _, r := range rows {
		if r.Note != "" || r.Bytes == 0 {
			continue
		}
		i := slices.IndexFunc(drawing.Panels, func(p chart.Panel) bool { return p.Title == r.Op })
		if i < 0 {
			i = len(drawing.Panels)
			drawing.Panels = append(drawing.Panels, chart.Panel{Title: r.Op, XLabel: "size (bytes)", YLabel: "time (us), p50", XBytes: true, LogY: true})
		}
		name := r.Impl
		switch {
		case r.Congestion != "" && r.Impl != ImplGaspi:
			name += "/" + r.Congestion
		case r.Impl == ImplGaspi && apart:
			name += "/" + r.Algorithm
		}
		plotRow(&drawing.Panels[i], name, r)
	}
	return Draw(file, drawing)
}

// Draw draws into the file that --plot names.
func Draw(file string, drawing interface{ WriteSVG(w io.Writer) error }) error {
	return WriteFile("--plot", file, drawing.WriteSVG)
}

// plotRow adds a point, or replaces a slower one of the same contender.
func plotRow(p *chart.Panel, name string, r Row) {
	i := slices.IndexFunc(p.Curves, func(c chart.Curve) bool { return c.Name == name })
	if i < 0 {
		i = len(p.Curves)
		p.Curves = append(p.Curves, chart.Curve{Name: name, Limit: r.Impl == ImplLimit})
	}
	c := &p.Curves[i]
	low, high := r.P50US, r.P50US
	for _, x := range r.Rounds {
		low, high = min(low, x.P50US), max(high, x.P50US)
	}
	at, found := slices.BinarySearch(c.X, float64(r.Bytes))
	if found {
		if r.P50US < c.Y[at] {
			c.Y[at], c.Low[at], c.High[at] = r.P50US, low, high
		}
		return
	}
	c.X, c.Y = slices.Insert(c.X, at, float64(r.Bytes)), slices.Insert(c.Y, at, r.P50US)
	c.Low, c.High = slices.Insert(c.Low, at, low), slices.Insert(c.High, at, high)
}
