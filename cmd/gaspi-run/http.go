package main

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-run/internal/live"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// checkHTTP refuses an address of --http that makes no sense, and a node that has nothing to show.
func (o *options) checkHTTP(given bool) error {
	if !given {
		return nil
	}
	if o.config.Node.Number > 0 {
		return fmt.Errorf("--http: node 0 alone sees all ranks; leave it out at node %d", o.config.Node.Number)
	}
	if err := live.CheckAddress(o.http); err != nil {
		return fmt.Errorf("--http %q: %w", o.http, err)
	}
	return nil
}

// serve begins to serve what the ranks will do, if the user wants it. The caller calls stop once the job is
// over.
func (o *options) serve(cfg *launcher.Config, say func(string)) (stop func(), err error) {
	if o.http == "" {
		return func() {}, nil
	}
	l, err := live.Listen(o.http)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", o.http, err)
	}
	s := live.Serve(l)
	cfg.Observe = func(job *launcher.Observer) { s.Show(job) }
	say("the job can be seen at " + s.Address())
	if !s.Alone() {
		say("--http " + o.http + ": whoever reaches this address sees the job and may profile its ranks; nothing is asked of them")
	}
	return s.Close, nil
}
