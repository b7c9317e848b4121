// Package jitter makes ranks slower, on purpose and at random: the noise that a
// job meets on a real cluster, where other jobs, clocks and disks interfere, on
// a quiet machine.
package jitter

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A Spec says how long a rank sleeps in each iteration. The zero Spec is no
// sleep at all.
type Spec struct {
	kind   delayKind
	mean   time.Duration
	sigma  float64 // of the logarithm, kind lognormal
	rank   int     // the slow one, kind straggler
	factor float64 // by which it is slow
}

type delayKind int

const (
	none delayKind = iota
	constant
	lognormal
	straggler
)

// Defaults of what a specification leaves out.
const (
	defaultMean  = 20 * time.Millisecond
	defaultSigma = 1.0
)

// Forms lists what Parse reads, for messages and help.
const Forms = "none, constant:D, lognormal[:MEAN[,SIGMA]] or straggler:RANK,FACTOR[,MEAN]"

// Parse reads a specification:
//
//	none                             no sleep
//	constant:D                       D on every rank
//	lognormal[:MEAN[,SIGMA]]         log-normal with that mean (20ms) and that
//	                                 standard deviation of the logarithm (1)
//	straggler:RANK,FACTOR[,MEAN]     MEAN (20ms) on every rank but one, which
//	                                 sleeps FACTOR times as long
func Parse(text string) (Spec, error) {
	name, rest, hasArgs := strings.Cut(text, ":")
	var args []string
	if hasArgs {
		args = strings.Split(rest, ",")
	}
	p := parser{text: text, args: args}
	var s Spec
	switch name {
	case "none":
		p.want(0, 0)
	case "constant":
		p.want(1, 1)
		s = Spec{kind: constant, mean: p.duration(0, 0)}
	case "lognormal":
		p.want(0, 2)
		s = Spec{kind: lognormal, mean: p.duration(0, defaultMean), sigma: p.number(1, defaultSigma)}
	case "straggler":
		p.want(2, 3)
		s = Spec{kind: straggler, rank: p.index(0), factor: p.number(1, 1), mean: p.duration(2, defaultMean)}
	default:
		p.fail("expected %s", Forms)
	}
	return s, p.err
}

// String writes a specification as Parse reads it, with nothing left out.
func (s Spec) String() string {
	switch s.kind {
	case constant:
		return fmt.Sprintf("constant:%v", s.mean)
	case lognormal:
		return fmt.Sprintf("lognormal:%v,%v", s.mean, s.sigma)
	case straggler:
		return fmt.Sprintf("straggler:%d,%v,%v", s.rank, s.factor, s.mean)
	}
	return "none"
}

// Check reports whether the specification makes sense for a job of that many ranks.
func (s Spec) Check(ranks int) error {
	if s.kind == straggler && s.rank >= ranks {
		return fmt.Errorf("jitter %v slows down rank %d, but the job has ranks 0 to %d only", s, s.rank, ranks-1)
	}
	return nil
}

// A Source gives the sleeps of one rank, the same ones for the same seed.
type Source struct {
	spec Spec
	rank int
	rng  *rand.Rand
}

// For returns the sleeps of a rank.
func (s Spec) For(rank int, seed uint64) *Source {
	return &Source{spec: s, rank: rank, rng: rand.New(rand.NewPCG(seed, uint64(rank)))}
}

// Next returns how long to sleep this time.
func (s *Source) Next() time.Duration {
	switch s.spec.kind {
	case constant:
		return s.spec.mean
	case lognormal:
		// exp(N(mu, sigma)) has the mean exp(mu + sigma*sigma/2).
		x := s.spec.sigma*s.rng.NormFloat64() - s.spec.sigma*s.spec.sigma/2
		return time.Duration(min(float64(s.spec.mean)*math.Exp(x), float64(maxSleep)))
	case straggler:
		if s.rank == s.spec.rank {
			return time.Duration(min(float64(s.spec.mean)*s.spec.factor, float64(maxSleep)))
		}
		return s.spec.mean
	}
	return 0
}

// Pause sleeps for the next duration, or until ctx ends, whose error it returns.
func (s *Source) Pause(ctx context.Context) error {
	d := s.Next()
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxSleep bounds a single sleep; longer ones are a mistake in a specification.
const maxSleep = time.Hour

// A parser reads the arguments of one specification and keeps the first error.
type parser struct {
	text string
	args []string
	err  error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("jitter %q: "+format, append([]any{p.text}, args...)...)
	}
}

// want checks the number of arguments.
func (p *parser) want(least, most int) {
	if len(p.args) < least || len(p.args) > most {
		p.fail("wrong number of values; expected %s", Forms)
	}
}

// arg returns an argument, or false if it is left out.
func (p *parser) arg(i int) (string, bool) {
	if p.err != nil || i >= len(p.args) {
		return "", false
	}
	return p.args[i], true
}

func (p *parser) duration(i int, missing time.Duration) time.Duration {
	text, ok := p.arg(i)
	if !ok {
		return missing
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxSleep {
		p.fail("%q is no duration from 0s to %v; write it like 20ms", text, maxSleep)
	}
	return d
}

func (p *parser) number(i int, missing float64) float64 {
	text, ok := p.arg(i)
	if !ok {
		return missing
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1e6) {
		p.fail("%q is no number from 0 to a million", text)
	}
	return x
}

func (p *parser) index(i int) int {
	text, ok := p.arg(i)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		p.fail("%q is no rank; expected a whole number of 0 or more", text)
	}
	return n
}
