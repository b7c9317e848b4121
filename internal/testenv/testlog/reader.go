package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// A goEvent is a line of go test -json: an event of a test, of a package, or of a build.
type goEvent struct {
	Action     string
	Package    string
	Test       string // "" in events of the package
	Output     string
	Elapsed    float64 // seconds
	ImportPath string  // of a build
}

var (
	// start matches a line that only says that a test starts or goes on.
	start = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) `)

	// result matches a line that says how a test or a package ended.
	result = regexp.MustCompile(`^( *--- (PASS|FAIL|SKIP|BENCH): |PASS\n|FAIL\n|FAIL\t|ok  \t|\?   \t)`)
)

// A packageLog is one run of the tests of a package.
type packageLog struct {
	excerpt
	path    string
	tests   []*testLog          // as they have started; one that runs again is there again
	running map[string]*testLog // the last run of each test
	end     string              // pass, fail or skip; "" until it has ended
	cached  bool                // the events are those of an earlier run
	seconds float64
	text    bytes.Buffer // not shown yet
	writer  string       // the test whose output is the last in text
	partial bool         // text ends without a newline
}

// A testLog is one run of a test.
type testLog struct {
	excerpt
	name    string
	end     string // as in packageLog
	seconds float64
}

// A reader follows the events of go test.
type reader struct {
	record   io.Writer
	out      *bufio.Writer
	packages []*packageLog          // as they have started
	shown    int                    // packages whose text was shown as a whole
	open     map[string]*packageLog // those that have not ended
	builds   map[string]*excerpt    // output, by ImportPath
	broken   []string               // ImportPath of the builds that failed
}

func newReader(record, out io.Writer) *reader {
	return &reader{record: record, out: bufio.NewWriter(out), open: map[string]*packageLog{}, builds: map[string]*excerpt{}}
}

// read follows events until there are no more. The record gets them as they come. Lines that are
// no events are shown.
func (r *reader) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 0 {
			if err := r.follow(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// follow reads one line.
func (r *reader) follow(line []byte) error {
	var ev goEvent
	if json.Unmarshal(line, &ev) != nil || ev.Action == "" {
		r.out.Write(append(bytes.TrimSuffix(line, []byte("\n")), '\n'))
		return r.out.Flush()
	}
	_, err := r.record.Write(line)
	switch {
	case ev.Action == "build-output":
		if r.builds[ev.ImportPath] == nil {
			r.builds[ev.ImportPath] = &excerpt{}
		}
		r.builds[ev.ImportPath].add(ev.Output)
		r.out.WriteString(ev.Output)
	case ev.Action == "build-fail":
		r.broken = append(r.broken, ev.ImportPath)
	case ev.Package != "":
		r.packageOf(ev).follow(ev)
		if ev.Test == "" && ended(ev.Action) {
			delete(r.open, ev.Package)
		}
		r.show()
	}
	return errors.Join(err, r.out.Flush())
}

// ended tells whether an action is the end of a test or a package.
func ended(action string) bool { return action == "pass" || action == "fail" || action == "skip" }

// packageOf is the run of a package that an event is of.
func (r *reader) packageOf(ev goEvent) *packageLog {
	p := r.open[ev.Package]
	if p == nil {
		p = &packageLog{path: ev.Package, running: map[string]*testLog{}}
		r.open[ev.Package] = p
		r.packages = append(r.packages, p)
	}
	return p
}

// show writes the packages that have ended, and the whole lines of the first that has not, so
// that its text is shown as it comes.
func (r *reader) show() {
	for ; r.shown < len(r.packages); r.shown++ {
		p := r.packages[r.shown]
		r.out.Write(p.text.Next(bytes.LastIndexByte(p.text.Bytes(), '\n') + 1))
		if p.end == "" {
			return
		}
	}
}

// follow notes an event of the package.
func (p *packageLog) follow(ev goEvent) {
	t := p.running[ev.Test]
	if ev.Test != "" && (t == nil || ev.Action == "run") {
		t = &testLog{name: ev.Test}
		p.running[ev.Test] = t
		p.tests = append(p.tests, t)
	}
	switch {
	case ev.Action == "output":
		p.write(ev)
		if result.MatchString(ev.Output) || start.MatchString(ev.Output) {
			p.cached = p.cached || ev.Test == "" && strings.HasPrefix(ev.Output, "ok  \t") && strings.Contains(ev.Output, "\t(cached)")
		} else if t != nil {
			t.add(ev.Output)
		} else {
			p.add(ev.Output)
		}
	case !ended(ev.Action):
	case t != nil:
		t.end, t.seconds = ev.Action, ev.Elapsed
	default:
		p.end, p.seconds = ev.Action, ev.Elapsed
		p.newLine()
	}
}

// write appends output to the text of the package. A result, and the output of another test,
// begin a line.
func (p *packageLog) write(ev goEvent) {
	if start.MatchString(ev.Output) || ev.Output == "" {
		return
	}
	if ev.Test != p.writer || result.MatchString(ev.Output) {
		p.newLine()
	}
	p.text.WriteString(ev.Output)
	p.writer, p.partial = ev.Test, !strings.HasSuffix(ev.Output, "\n")
}

// newLine ends a line that has no end.
func (p *packageLog) newLine() {
	if p.partial {
		p.text.WriteByte('\n')
		p.partial = false
	}
}
