package figure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
	"github.com/gaspi-go/gaspi-go/internal/chart"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// The job of Fig. 6: matrix factorization on made-up ratings, until an error is reached.
const (
	factorizer    = "github.com/gaspi-go/gaspi-go/examples/mfsgd"
	factorRanks   = 8
	factorRatings = "8000x2000x300000"
	factorJitter  = "lognormal:10ms,0.5"
	factorTarget  = "0.80"
	factorSlacks  = "0,2,32,64"
	factorLink    = emulatedLink
)

// eventual6 is Fig. 6.
func eventual6() Figure {
	return Figure{
		Name: "eventual-6", Paper: eventual, Place: "Fig. 6", Title: "Stale reductions: learning",
		About: "Matrix factorization by stochastic gradient descent (examples/mfsgd) until the same error is reached, with slacks from 0 to 64.",
		Ways:  []Setting{Emulated, Raw}, Other: factorize,
	}
}

// A factorRun is the run of one slack, as mfsgd writes it.
type factorRun struct {
	Slack      int     `json:"slack"`
	Iterations int     `json:"iterations"`
	Seconds    float64 `json:"seconds"`
	Reached    bool    `json:"reached"`
	Waiting    float64 `json:"waiting_share"`
	Mean       struct {
		Seconds []*float64 `json:"seconds"`
		RMSE    []*float64 `json:"rmse"` // null while nobody was heard
	} `json:"mean"`
}

// factorizerProgram returns the program of that name beside this one or in PATH, else the
// package, which is built where that is possible.
func factorizerProgram() string {
	name := path.Base(factorizer)
	if own, err := os.Executable(); err == nil {
		if found, err := exec.LookPath(filepath.Join(filepath.Dir(own), name)); err == nil {
			return found
		}
	}
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	return factorizer
}

// factorize runs mfsgd and reads what it measured.
func factorize(ctx context.Context, lab *Lab, way Setting, _ time.Time) (*Part, error) {
	if lab.Bench.Doing != nil {
		lab.Bench.Doing("matrix factorization, " + way.String())
	}
	dir, err := os.MkdirTemp("", "gaspi-bench-figure-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mfsgd.json")
	args := []string{
		"--synthetic", factorRatings, "--jitter", factorJitter, "--until-rmse", factorTarget, "--slack", factorSlacks, "--json", file,
	}
	var complaint bytes.Buffer
	cfg := launcher.Config{
		Program: factorizerProgram(), Args: args, Ranks: factorRanks, Transport: "shm",
		Stdout: io.Discard, Stderr: &complaint,
	}
	p := &Part{Setting: fmt.Sprintf("%d ranks, made-up ratings %s, each rank also sleeps %s per iteration, until %s stars", factorRanks, factorRatings, factorJitter, factorTarget)}
	if way == Emulated {
		cfg.Env = []string{"GASPI_EMULATE=" + factorLink}
		p.Setting += ", each behind a link of " + factorLink
	}
	result, err := launcher.Run(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("it needs the program mfsgd beside gaspi-bench or in PATH (go install %s@latest), or Go in a clone of the project: %w", factorizer, err)
	}
	if result.ExitCode != 0 {
		return nil, fmt.Errorf("mfsgd ended with exit code %d: %s", result.ExitCode, subprocess.LastLine(complaint.String()))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return p, p.readFactors(text, way)
}

// readFactors fills a part with what mfsgd wrote.
func (p *Part) readFactors(text []byte, way Setting) error {
	var report struct {
		Runs []factorRun `json:"runs"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return fmt.Errorf("reading the report of mfsgd: %w", err)
	}
	if len(report.Runs) < 2 || report.Runs[0].Slack != 0 {
		return errors.New("the report of mfsgd has no run with slack 0 before others")
	}
	p.Charts = []chart.Chart{factorChart(report.Runs, way)}
	t := Table{Title: "Until the error was reached", Head: []string{"slack", "iterations", "seconds", "waiting"}}
	for _, run := range report.Runs {
		t.Rows = append(t.Rows, []string{fmt.Sprint(run.Slack), fmt.Sprint(run.Iterations), showNumber(run.Seconds), Share.Show(run.Waiting)})
	}
	p.Tables = []Table{t}
	for _, run := range report.Runs[1:] {
		p.judge(&SweepTimes{Way: way, Doubt: p.Doubt}, factorClaims(report.Runs[0], run)...)
	}
	return nil
}

// factorClaims compare a run with that of slack 0.
func factorClaims(zero, run factorRun) []*Claim {
	paper := map[int]struct{ saved, more float64 }{2: {0.06, 3}, 32: {0.123, 6}, 64: {0.19, 16}}[run.Slack]
	const paperIterations = 500
	speed, more := math.NaN(), math.NaN()
	if zero.Reached && run.Reached {
		speed, more = zero.Seconds/run.Seconds, float64(run.Iterations)/float64(zero.Iterations)-1
	}
	return []*Claim{{
		Text: fmt.Sprintf("slack %d reaches the same error sooner than slack 0", run.Slack), Kind: Gain,
		Paper: exactly(1/(1-paper.saved), fmt.Sprintf("Section V-a: %.3g %% faster", 100*paper.saved)), Number: known(speed),
		Why: []Reason{{
			Outcome: Stronger,
			Text:    fmt.Sprintf("Slack saves waiting, and there is more to save here: with slack 0 a rank waits for %s of its time, since each sleeps on its own.", Share.Show(zero.Waiting)),
		}},
	}, {
		Text: fmt.Sprintf("more iterations to the same error with slack %d", run.Slack), Kind: Share,
		Paper: exactly(paper.more/paperIterations, fmt.Sprintf("Section V-a: %.0f more than %d", paper.more, paperIterations)), Number: known(more),
		Why: []Reason{{
			Outcome: Stronger,
			Text:    fmt.Sprintf("The error is reached within %d iterations here, of which a delay of some is a larger part.", zero.Iterations),
		}},
	}}
}

// factorChart draws error and iterations over time.
func factorChart(runs []factorRun, way Setting) chart.Chart {
	left := chart.Panel{Title: "error", XLabel: "time (s)", YLabel: "held-out RMSE (stars)", Cut: true}
	right := chart.Panel{Title: "speed", XLabel: "time (s)", YLabel: "iterations"}
	for _, run := range runs {
		errs, done := chart.Curve{Name: fmt.Sprintf("slack %d", run.Slack)}, chart.Curve{Name: fmt.Sprintf("slack %d", run.Slack)}
		for i, s := range run.Mean.Seconds {
			if s == nil || i >= len(run.Mean.RMSE) || run.Mean.RMSE[i] == nil {
				continue
			}
			errs.X, errs.Y = append(errs.X, *s), append(errs.Y, *run.Mean.RMSE[i])
			done.X, done.Y = append(done.X, *s), append(done.Y, float64(i+1))
		}
		left.Curves, right.Curves = append(left.Curves, errs), append(right.Curves, done)
	}
	return chart.Chart{Title: strings.ToLower(way.String()), Panels: []chart.Panel{left, right}}
}
