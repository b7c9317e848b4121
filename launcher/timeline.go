package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/namedfile"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/timeline"
)

// A TraceResult is what came of Config.Trace.
type TraceResult struct {
	Events  int      // in the file, of all ranks
	Dropped uint64   // records of ranks that later ones had overwritten, or that they did not finish
	LeftOut uint64   // short calls in rapid succession that were counted alone
	Missing []string // why ranks are not in it, a sentence for each host
	Err     error    // why there is no file; nil if there is

	// Length is how long the critical path is: the chain of calls and waits, across ranks, that took from
	// the begin to the end. Incomplete says that it begins later, where records were dropped.
	Length     time.Duration
	Incomplete bool
	// Path adds up what ranks did on the critical path, the longest first.
	Path []PathShare
}

// A PathShare is how long a rank was on the critical path in one call.
type PathShare struct {
	Rank Rank
	Call string // "(outside of calls)" for the program itself; of a step, with its collective operation
	Time time.Duration
}

// checkFiles returns why what a job leaves here cannot be written.
func (c Config) checkFiles() error {
	if c.Stacks != "" && !(c.Node.several() && c.Node.Number > 0) {
		named := namedfile.File{Named: "directory for stacks", Path: c.Stacks, Expected: namedfile.NewDir}
		if err := named.MakeDir(); err != nil {
			return err
		}
		f, err := os.CreateTemp(c.Stacks, ".stacks-*")
		if err != nil {
			return named.Wrong(fmt.Errorf("no file can be made in it: %w", errors.Unwrap(err)))
		}
		_ = f.Close()
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	return c.checkTrace()
}

// checkTrace returns why Trace cannot be written.
func (c Config) checkTrace() error {
	if c.Trace == "" || c.Node.several() && c.Node.Number > 0 {
		return nil
	}
	if info, err := os.Lstat(c.Trace); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("trace file %s is there and no regular file: expected a new name, or a file to replace", c.Trace)
	}
	f, err := c.createTrace()
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// createTrace makes the file that takes the name of Trace when it is complete.
func (c Config) createTrace() (*os.File, error) {
	dir := filepath.Dir(c.Trace)
	name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", filepath.Base(c.Trace), os.Getpid()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	_, missing := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		return nil, fmt.Errorf("trace file %s: no file can be made in directory %s; name a file in another one", c.Trace, dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("trace file %s: there is no directory %s; make it, or name another file", c.Trace, dir)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("trace file %s: this user may not write to directory %s; name a file in another one", c.Trace, dir)
	case err != nil:
		return nil, fmt.Errorf("trace file %s: %w", c.Trace, errors.Unwrap(err))
	}
	return f, nil
}

// slots is how many records each rank keeps.
func (j *job) slots() int {
	if j.cfg.Trace == "" {
		return 0
	}
	return trace.Slots(j.cfg.Ranks)
}

// clocks belong to the hosts.
type clocks struct {
	measuring sync.WaitGroup
	of        []timeline.Clock // index is the site; valid after measuring
}

// measure measures the clock of a site whose ranks have been started.
func (c *clocks) measure(i int, s site) {
	if r, ok := s.(*agent.Site); ok {
		c.of[i].First, _ = r.Clock()
	}
}

// endTrace writes the timeline of the job, when its ranks have ended.
func (j *job) endTrace() *TraceResult {
	if j.cfg.Trace == "" {
		return nil
	}
	j.clocks.measuring.Wait()
	result := &TraceResult{}
	sources := make([]timeline.RankLog, j.cfg.Ranks)
	var mu sync.Mutex
	j.atSites(func(i int, s site) {
		if why := j.collect(s, j.places[i], j.clock(i), sources); why != "" {
			mu.Lock()
			result.Missing = append(result.Missing, why)
			mu.Unlock()
		}
	})
	t := timeline.New(sources)
	path, cut := t.Path()
	result.Events, result.Dropped, result.LeftOut, result.Incomplete = t.Events(), t.Dropped(), t.Skipped(), cut
	for _, s := range timeline.Shares(path) {
		result.Path = append(result.Path, PathShare(s))
		result.Length += s.Time
	}
	result.Err = j.cfg.writeTrace(func(f *os.File) error { return t.Write(f, path) })
	return result
}

// clock returns the clock of a site, which is measured once more.
func (j *job) clock(i int) timeline.Clock {
	c := j.clocks.of[i]
	if r, ok := j.sites[i].(*agent.Site); ok {
		last, answered := r.Clock()
		switch {
		case !answered:
			last = c.First
		case c.First == timeline.Offset{}:
			c.First = last
		}
		c.Last = last
	}
	return c
}

// collect fetches what the ranks of a site have recorded, and returns why some of that is missing.
func (j *job) collect(s site, p hosts.Place, c timeline.Clock, to []timeline.RankLog) (why string) {
	for r := p.First; r < p.First+Rank(p.Ranks); r++ {
		to[r] = timeline.RankLog{Host: j.hostOf(r), Clock: c}
		image, err := s.Recorded(r)
		if err == nil && image != nil {
			to[r].Log, err = trace.Parse(image)
		}
		if err != nil {
			return fmt.Sprintf("what ranks from %d on have recorded is missing: %v", r, err)
		}
	}
	return ""
}

// writeTrace writes the file and gives it its name, or leaves nothing.
func (c Config) writeTrace(write func(*os.File) error) error {
	f, err := c.createTrace()
	if err != nil {
		return err
	}
	if err := complete(f, c.Trace, write); err != nil {
		return fmt.Errorf("trace file %s: %w", c.Trace, err)
	}
	return nil
}
