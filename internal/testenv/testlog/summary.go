package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// longest is the number of tests, and of packages, that are listed because of their time.
const longest = 10

// summarize prints what a reader of the log wants at its end, and tells whether everything is
// good. Tests may skip for the reasons that match.
func (r *reader) summarize(reasons *regexp.Regexp) (bool, error) {
	for _, p := range r.packages { // those that have not ended
		p.newLine()
		p.text.WriteTo(r.out)
	}
	refused := r.skipped(reasons)
	r.slowest()
	r.repeated()
	failed := r.failures()
	if len(refused) > 0 {
		r.section("skipped for a reason other than "+reasons.String()+"; what this machine lacks belongs into the list of .ci/run, wanted", refused)
	}
	r.count()
	return failed+len(refused) == 0 && len(r.packages) > 0, r.out.Flush()
}

// section prints lines below a heading, if there are any.
func (r *reader) section(heading string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(r.out, "\n%s:\n%s\n", heading, strings.Join(lines, "\n"))
	}
}

// each calls a function for each run of a test.
func (r *reader) each(do func(p *packageLog, t *testLog)) {
	for _, p := range r.packages {
		for _, t := range p.tests {
			do(p, t)
		}
	}
}

// skipped prints the tests that were skipped, each with its reason, and returns those whose
// reason does not match.
func (r *reader) skipped(reasons *regexp.Regexp) []string {
	var all, refused []string
	r.each(func(p *packageLog, t *testLog) {
		if t.end != "skip" {
			return
		}
		line := fmt.Sprintf("%s %s: %s", p.path, t.name, t.reason())
		all = append(all, line)
		if !reasons.MatchString(t.reason()) {
			refused = append(refused, line)
		}
	})
	r.section("skipped", all)
	return refused
}

// A timed is a test or a package with the seconds that it took.
type timed struct {
	seconds float64
	name    string
}

// slowest prints the tests and the packages that took longest. Subtests are part of their
// tests, and packages whose events are those of an earlier run took no time.
func (r *reader) slowest() {
	var tests, packages []timed
	r.each(func(p *packageLog, t *testLog) {
		if !p.cached && !strings.Contains(t.name, "/") {
			tests = append(tests, timed{t.seconds, p.path + " " + t.name})
		}
	})
	for _, p := range r.packages {
		packages = append(packages, timed{p.seconds, p.path})
	}
	r.section("slowest tests", head(tests))
	r.section("slowest packages", head(packages))
}

// head is the text of the longest of a list, without those that took no time.
func head(list []timed) []string {
	list = slices.DeleteFunc(list, func(a timed) bool { return a.seconds == 0 })
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	var lines []string
	for _, a := range list[:min(longest, len(list))] {
		lines = append(lines, fmt.Sprintf("%8.2f s  %s", a.seconds, a.name))
	}
	return lines
}

// repeated prints the tests that ran more than once.
func (r *reader) repeated() {
	runs := map[string]int{}
	var names, lines []string
	r.each(func(p *packageLog, t *testLog) {
		name := p.path + " " + t.name
		runs[name]++
		if runs[name] == 2 {
			names = append(names, name)
		}
	})
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("%d times  %s", runs[name], name))
	}
	r.section("ran more than once", lines)
}

// failures prints the builds, tests and packages that failed or did not end, each with its
// excerpt, and returns their number.
func (r *reader) failures() int {
	var lines []string
	number := 0
	add := func(name, end string, e *excerpt) {
		if end == "" {
			name += ": did not end"
		}
		if end == "" || end == "fail" {
			number++
			lines = append(append(lines, name), e.lines()...)
		}
	}
	for _, path := range r.broken {
		add("build of "+path, "fail", cmp.Or(r.builds[path], &excerpt{}))
	}
	r.each(func(p *packageLog, t *testLog) { add(p.path+" "+t.name, t.end, &t.excerpt) })
	for _, p := range r.packages {
		add(p.path, p.end, &p.excerpt)
	}
	r.section("failed", lines)
	return number
}

// count prints how many tests ended how.
func (r *reader) count() {
	ends := map[string]int{}
	r.each(func(_ *packageLog, t *testLog) { ends[t.end]++ })
	cached := 0
	for _, p := range r.packages {
		if p.cached {
			cached++
		}
	}
	fmt.Fprintf(r.out, "\n%d tests passed (with subtests), %d failed, %d did not end, %d skipped; %d packages, of which %d were taken from the cache\n",
		ends["pass"], ends["fail"], ends[""], ends["skip"], len(r.packages), cached)
}
