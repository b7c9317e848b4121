package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	figures "github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/figure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/page"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// report makes all figures and writes the page, also of those that were made before an
// interrupt.
func (o *figureOptions) report(ctx context.Context, lab *figures.Lab, stdout, stderr *os.File) error {
	if err := tryWrite(o.out); err != nil {
		return err
	}
	began := time.Now()
	var results []*figures.FigureResult
	interrupted := false
	for _, f := range figures.All() {
		r, err := lab.Run(ctx, &f)
		if len(r.Parts) > 0 || err == nil {
			fmt.Fprintf(stderr, "%-20s %6.1f s\n", f.Name, r.Took.Seconds())
			results = append(results, r)
		}
		if interrupted = err != nil; interrupted {
			break
		}
	}
	made := page.NewPage(results, page.ThisHost(), began, time.Since(began))
	has := fmt.Sprintf("has %d of %d figures", len(results), len(figures.All()))
	switch {
	case interrupted && !made.Made():
		return errors.New("interrupted; nothing was written")
	case interrupted:
		made.Cut = "it was interrupted, and " + has
	}
	if err := writeFile(o.out, made.Write); err != nil {
		return err
	}
	switch {
	case interrupted:
		return fmt.Errorf("interrupted; %s %s", o.out, has)
	case !made.Made():
		return fmt.Errorf("no figure could be made; %s says why", o.out)
	}
	_, err := fmt.Fprintf(stdout, "%s: %s, in %v\n", o.out, made.Tally(), time.Since(began).Round(time.Second))
	return err
}

// tryWrite finds out early whether a file can be written.
func tryWrite(name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("--out %s: it is a directory; name a file in it", name)
	}
	probe := name + ".try"
	err := writeFile(probe, func(io.Writer) error { return nil })
	if err != nil {
		return report.Unwritable("--out", name, err)
	}
	return os.Remove(probe)
}
