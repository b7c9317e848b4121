package main

import (
	"context"
	"os"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/beside"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// runPeers measures the runtime beside peers and returns the exit code.
func runPeers(o *options, stdout, stderr *os.File) int {
	ctx, stop := interruptible(context.Background())
	defer stop()
	if err := beside.Measure(ctx, o.peerSpec(), stdout, stderr); err != nil {
		say(stderr, err)
		return exitFailed
	}
	return 0
}

// peerSpec returns what is measured beside peers.
func (o *options) peerSpec() beside.Sides {
	return beside.Sides{
		Op: o.op.Name, Ranks: o.ranks, Sizes: o.sizes, Transport: o.peerTransport(), Provider: os.Getenv(envProvider), Bind: o.bind,
		Rules: o.measured, Forms: o.forms, Alone: o.op.calls, Call: o.collective, Peers: o.peers.Peers, Args: o.args,
		Start: func(forms report.Forms, args []string, stdout, stderr *os.File) (launcher.Config, error) {
			ours := *o
			ours.forms, ours.args = forms, args
			cfg, err := ours.job(stdout, stderr)
			cfg.Env = append(cfg.Env, envPart+"=1")
			return cfg, err
		},
		Headline: func(cores int, bound bool) string { return headline(o.ranks, o.peerTransport(), cores, bound) },
	}
}
