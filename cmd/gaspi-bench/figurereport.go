package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	figures "github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/figure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/page"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// report makes all figures. The page is written after each, so that those that were made stay
// if this process ends, however it does. It fails if a signal ended it, or if nothing that was
// to be measured could be.
func (o *figureOptions) report(ctx context.Context, lab *figures.Lab, stdout, stderr *os.File) error {
	if err := tryWrite("--out", o.out); err != nil {
		return err
	}
	began, all, host := time.Now(), figures.All(), page.ThisHost()
	var results []*figures.FigureResult
	var made *page.Page
	has := ""
	for _, f := range all {
		r, err := lab.Run(ctx, &f)
		if len(r.Parts) > 0 || err == nil {
			fmt.Fprintf(stderr, "%-20s %6.1f s\n", f.Name, r.Took.Seconds())
			results = append(results, r)
		}
		made = page.NewPage(results, host, began, time.Since(began))
		has = fmt.Sprintf("has %d of %d figures", len(results), len(all))
		switch {
		case err != nil && !made.Made():
			return errors.New("interrupted; nothing was measured")
		case err != nil:
			made.Cut = "it was interrupted, and " + has
		case len(results) < len(all):
			made.Cut = "it is being made, and " + has
		default:
			made.Cut = made.Short()
		}
		if err := report.WriteFile("writing", o.out, made.Write); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("interrupted; %s %s", o.out, has)
		}
	}
	if err := figures.Unmeasured(results...); err != nil {
		return fmt.Errorf("%w; %s has the rest", err, o.out)
	}
	if !made.Made() {
		return fmt.Errorf("no figure could be made; %s says why", o.out)
	}
	short := ""
	if made.Cut != "" {
		short = "; not complete: " + made.Cut
	}
	_, err := fmt.Fprintf(stdout, "%s: %s, in %v%s\n", o.out, made.Tally(), time.Since(began).Round(time.Second), short)
	return err
}

// tryWrite finds out early whether the file that a flag names can be written.
func tryWrite(flag, name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s %s: it is a directory; name a file in it", flag, name)
	}
	probe, err := os.CreateTemp(filepath.Dir(name), ".gaspi-bench-*")
	if err != nil {
		return report.Unwritable(flag, name, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
