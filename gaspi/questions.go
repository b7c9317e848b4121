package gaspi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// This file answers what the launcher asks this process: what package net/http/pprof and package expvar
// would serve, without linking a web server.

// answerTo lets the launcher ask, where there is one.
func (p *Proc) answerTo(session boot.Session) {
	if s, ok := session.(boot.Answerer); ok {
		s.OnAsk(p.answer)
	}
}

// PublishVars adds variables to those that gaspi-run --http shows of this rank. each calls add with the name
// of each variable and its value in JSON; it is called whenever somebody looks, in any goroutine. A program
// adds the variables of package expvar by
//
//	p.PublishVars(func(add func(name, value string)) {
//		expvar.Do(func(v expvar.KeyValue) { add(v.Key, v.Value.String()) })
//	})
func (p *Proc) PublishVars(each func(add func(name, value string))) { p.vars.Store(&each) }

// answer answers a question of the launcher.
func (p *Proc) answer(ctx context.Context, what string) ([]byte, error) {
	name, query, _ := strings.Cut(what, "?")
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
		return p.variables()
	case name == "profile":
		return processorProfile(ctx, time.Duration(number("seconds", profileSeconds))*time.Second)
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
	profileSeconds = 30
	profileMost    = 10 * time.Minute
)

// processorProfile profiles this process for a while. One runs at a time.
func processorProfile(ctx context.Context, d time.Duration) ([]byte, error) {
	if d <= 0 || d > profileMost {
		return nil, fmt.Errorf("a profile of %v; expected 1 s to %v", d, profileMost)
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

// variables are those that package expvar has in every program, those of this rank, and those of the program.
func (p *Proc) variables() ([]byte, error) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	own := struct {
		Rank        Rank
		Stats       Stats
		Peers       []PeerStats
		Collectives []CollectiveStats
	}{p.rank, p.Stats(), p.allPeerStats(), p.CollectiveStats()}
	all := map[string]any{"cmdline": os.Args, "memstats": mem, "gaspi": own}
	if each := p.vars.Load(); each != nil {
		(*each)(func(name, value string) {
			if _, ours := all[name]; ours {
				return
			}
			if all[name] = any(value); json.Valid([]byte(value)) {
				all[name] = json.RawMessage(value)
			}
		})
	}
	return json.Marshal(all)
}
