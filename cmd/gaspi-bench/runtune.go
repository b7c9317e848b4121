package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/model"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// checkTune finds flags that mean nothing to tune.
func (o *options) checkTune(changed func(string) bool) error {
	if !o.op.tune {
		if changed("out") {
			return fmt.Errorf("--out: only tune writes a file of parameters; drop the flag")
		}
		return nil
	}
	if os.Getenv(envRank) != "" && os.Getenv(model.EnvPart) == "" {
		return errors.New("tune starts its own ranks; run it without gaspi-run")
	}
	for _, name := range []string{"n", "transport", "bind", "json"} {
		if changed(name) {
			dash := "--"
			if name == "n" {
				dash = "-"
			}
			return fmt.Errorf("%s%s: tune chooses its ranks, and its file is named by --out; drop the flag", dash, name)
		}
	}
	if changed("out") && o.out == "" {
		return errors.New("--out needs the name of a file; found an empty one")
	}
	return nil
}

// runTune is the part of tune that starts the ranks.
func runTune(ctx context.Context, o *options, stdout, stderr *os.File) int {
	fail := func(err error) int {
		say(stderr, err)
		return exitFailed
	}
	cores, err := thread.Cores()
	if err != nil {
		return fail(err)
	}
	if len(cores) < 2 {
		return fail(errors.New("tune needs two cores: what a message takes between ranks that share one says nothing"))
	}
	if err := report.TryOpen("--out", o.out); err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "gaspi-bench-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "machine.json")
	for _, part := range []struct {
		name  string
		ranks int
	}{{model.PartPair, 2}, {model.PartCrowd, 2 * len(cores)}, {model.PartCheck, 2}, {model.PartCheck, 2 * len(cores)}} {
		with := *o
		with.ranks = part.ranks
		cfg, err := with.job(stdout, stderr)
		if err != nil {
			return fail(err)
		}
		cfg.Env = append(cfg.Env, model.EnvPart+"="+part.name)
		if part.name == model.PartPair { // whose ranks make the file
			cfg.Env = append(cfg.Env, model.EnvFile+"="+file, model.EnvMachine+"=")
		} else {
			cfg.Env = append(cfg.Env, model.EnvFile+"="+file, model.EnvMachine+"="+file)
		}
		result, err := launcher.Run(ctx, cfg)
		if err != nil {
			return fail(err)
		}
		if result.ExitCode != 0 {
			return result.ExitCode
		}
	}
	if o.out == "" {
		return 0
	}
	if err := copyFile(o.out, file); err != nil {
		return fail(err)
	}
	return 0
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		return report.Unwritable("--out", to, err)
	}
	return nil
}
