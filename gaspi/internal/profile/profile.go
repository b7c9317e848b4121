// Package profile answers what the launcher asks a process about itself: what package net/http/pprof and
// package expvar would serve, without linking a web server.
package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// Answer answers a question of the launcher: the name of a profile, with its arguments as in a URL,
// "cmdline", or "vars", which variables answers. A profile of the processor ends with ctx.
func Answer(ctx context.Context, question string, variables func() ([]byte, error)) ([]byte, error) {
	name, query, _ := strings.Cut(question, "?")
	args, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	number := func(arg string, otherwise int) int {
		n, err := strconv.Atoi(args.Get(arg))
		if err != nil {
			return otherwise
		}
		return n
	}
	switch {
	case name == "cmdline":
		return []byte(strings.Join(os.Args, "\x00")), nil
	case name == "vars":
		return variables()
	case name == "profile":
		return processor(ctx, time.Duration(number("seconds", defaultSeconds))*time.Second)
	case args.Has("seconds"):
		return nil, fmt.Errorf("profile %s is of one moment; leave out seconds", name)
	}
	profile := pprof.Lookup(name)
	if profile == nil {
		var names []string
		for _, known := range pprof.Profiles() {
			names = append(names, known.Name())
		}
		return nil, fmt.Errorf("no profile %.40q; there are profile, %s", name, strings.Join(names, ", "))
	}
	if name == "heap" && number("gc", 0) > 0 {
		runtime.GC()
	}
	var b bytes.Buffer
	err = profile.WriteTo(&b, number("debug", 0))
	return b.Bytes(), err
}

// How long a profile of the processor takes, as net/http/pprof has it, and how long one may.
const (
	defaultSeconds = 30
	longest        = 10 * time.Minute
)

// processor profiles this process for a while. One runs at a time.
func processor(ctx context.Context, d time.Duration) ([]byte, error) {
	if d <= 0 || d > longest {
		return nil, fmt.Errorf("a profile of %v; expected 1 s to %v", d, longest)
	}
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		return nil, err
	}
	defer pprof.StopCPUProfile()
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
		return nil, errors.New("the rank has left the job meanwhile")
	}
	pprof.StopCPUProfile() // writes
	return b.Bytes(), nil
}
