package page

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/figure"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

//go:embed page.html
var pageText string

// A Page is a report: one file of HTML with everything in it.
type Page struct {
	Host    HostInfo
	Began   time.Time
	Took    time.Duration
	Cut     string // why figures are missing, empty if none are
	Papers  []PagePaper
	results []*figure.FigureResult
}

// A PagePaper is the figures of a paper.
type PagePaper struct {
	Paper   figure.Paper
	Figures []PageFigure
}

// A PageFigure is a figure as the page shows it.
type PageFigure struct {
	*figure.FigureResult
	Claims []PageClaim
}

// A PageClaim is a statement of a paper beside what came out in each way; a way in
// which nothing was asked is nil.
type PageClaim struct {
	Claim    *figure.Claim
	Verdicts []*figure.Verdict
}

// NewPage is the page of results, which are in the order of figure.All.
func NewPage(results []*figure.FigureResult, host HostInfo, began time.Time, took time.Duration) *Page {
	p := &Page{Host: host, Began: began, Took: took, results: results}
	for _, r := range results {
		if n := len(p.Papers); n == 0 || p.Papers[n-1].Paper != r.Figure.Paper {
			p.Papers = append(p.Papers, PagePaper{Paper: r.Figure.Paper})
		}
		last := &p.Papers[len(p.Papers)-1]
		last.Figures = append(last.Figures, PageFigure{r, claimsOf(r)})
	}
	return p
}

// claimsOf brings the verdicts of all ways on a claim together.
func claimsOf(r *figure.FigureResult) []PageClaim {
	var all []PageClaim
	at := make(map[string]int)
	for i := range r.Parts {
		for j := range r.Parts[i].Verdicts {
			v := &r.Parts[i].Verdicts[j]
			k, ok := at[v.Claim.Text]
			if !ok {
				k = len(all)
				at[v.Claim.Text] = k
				all = append(all, PageClaim{Claim: v.Claim, Verdicts: make([]*figure.Verdict, len(figure.Ways()))})
			}
			all[k].Verdicts[v.Way] = v
		}
	}
	return all
}

// Made reports whether any figure has numbers.
func (p *Page) Made() bool { return slices.ContainsFunc(p.results, (*figure.FigureResult).Made) }

// Short says how many figures lack numbers in how many ways because they were cut; it is empty for none.
func (p *Page) Short() string {
	figures, ways := 0, 0
	for _, r := range p.results {
		n := 0
		for i := range r.Parts {
			if r.Parts[i].Short() {
				n++
			}
		}
		if ways += n; n > 0 {
			figures++
		}
	}
	if ways == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d figures lack times or rounds of them, in %d ways, each of which says why", figures, len(p.results), ways)
}

// Tally says how many verdicts there are of each sort.
func (p *Page) Tally() string {
	var count [figure.Reversed + 1]int
	total := 0
	for _, r := range p.results {
		for _, part := range r.Parts {
			for _, v := range part.Verdicts {
				count[v.Outcome]++
				total++
			}
		}
	}
	var parts []string
	for _, o := range []figure.Outcome{figure.Holds, figure.Stronger, figure.Weaker, figure.Absent, figure.Reversed, figure.Unknown} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	return fmt.Sprintf("%d verdicts: %s", total, strings.Join(parts, ", "))
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"drawn": drawn, "script": func() template.JS { return template.JS(chart.Script) },
		"style": func() template.CSS { return template.CSS(chart.Style) },
		"ways":  figure.Ways,
		"class": func(o figure.Outcome) string { return strings.ReplaceAll(o.String(), " ", "-") },
		"paper": func(c *figure.Claim) string { return c.Paper.Show(c.Kind) },
		"band":  func(c *figure.Claim) string { return c.Kind.ShowBand(c.Accepted()) },
		"rows":  rows,
		"ours":  func(v *figure.Verdict) string { return v.Claim.Kind.Show(v.Number) },
		"time":  func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
		"round": func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) },
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	return t.Execute(w, p)
}

// drawn is a chart as part of the page, whose text WriteHTML escapes.
func drawn(c chart.Chart) (template.HTML, error) {
	var b bytes.Buffer
	if err := c.WriteHTML(&b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// rows is a link that holds all rows of a part as CSV, so that a page alone can be kept.
func rows(p figure.Part) (template.URL, error) {
	var b bytes.Buffer
	if err := p.WriteCSV(&b); err != nil {
		return "", err
	}
	return template.URL("data:text/csv;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}
