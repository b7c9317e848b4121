package agreement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// A flusher posts by a queue of a rank, whose Flush ends as a test wants.
type flusher struct {
	q       *gaspi.Queue
	flush   func(ctx context.Context) error
	flushed int // flushes since the last row
	rows    []int
}

func (f *flusher) WriteNotify(_ context.Context, to gaspi.Remote, src gaspi.Span, n gaspi.Notification) error {
	f.rows = append(f.rows, f.flushed)
	f.flushed = 0
	return f.q.WriteNotify(to, src, n)
}

func (f *flusher) Notify(_ context.Context, to gaspi.Remote, n gaspi.Notification) error {
	return f.q.Notify(to, n)
}

func (f *flusher) Flush(ctx context.Context, _ gaspi.Rank) error {
	f.flushed++
	return f.flush(ctx)
}

func (f *flusher) Unneeded(err error) error {
	if errors.Is(err, gaspi.ErrRankDead) {
		return nil
	}
	return err
}

// A fullRow is a case of TestFullRowFollowsAFlush.
type fullRow struct {
	name   string
	notes  int
	flush  func(ctx context.Context) error
	want   error
	rows   []int // flushes before each
	passed bool
}

// Goal: a full row goes out behind a flush that has ended. Where that does not end, the row is one
// from which nothing follows about earlier posts. An error of an earlier post is not lost.
func TestFullRowFollowsAFlush(t *testing.T) {
	refused := errors.New("an earlier post was refused")
	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []fullRow{
		{"a full row", Window, fails(nil), nil, []int{1}, true},
		{"a row that is not full", Window - 1, fails(refused), nil, []int{0}, false},
		{"posts that do not arrive", Window, never, nil, []int{1}, false},
		{"a member that has left", Window, fails(gaspi.ErrRankDead), nil, []int{1}, false},
		{"a post that was refused", Window, fails(refused), refused, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) { ranktest.Local(t, 2, gaspi.Config{}, c.run) })
	}
}

// run has rank 0 tell rank 1 of its calls.
func (c fullRow) run(ctx context.Context, p *gaspi.Proc) error {
	lay := LayoutOf(2)
	seg, err := p.CreateSegment(ctx, 1, lay.Size(), gaspi.WithNotifications(uint32(lay.Notifications())))
	if err != nil {
		return err
	}
	f := &flusher{flush: c.flush}
	if f.q, err = p.CreateQueue(); err != nil {
		return err
	}
	m := NewMailbox(lay, seg, []gaspi.Rank{0, 1}, int(p.Rank()), f)
	if p.Rank() == 0 {
		err = errors.Join(c.publish(ctx, m, f), f.q.Flush(ctx, 1))
	}
	if err := errors.Join(err, p.Barrier(ctx, p.World())); err != nil || p.Rank() == 0 {
		return err
	}
	return c.read(ctx, m)
}

func (c fullRow) publish(ctx context.Context, m *Mailbox, f *flusher) error {
	mine := make([]Note, c.notes)
	for i := range mine {
		mine[i] = Note{Call: uint64(9 + i), Signature: 1, Text: "barrier"}
	}
	err := m.Publish(ctx, mine)
	if !errors.Is(err, c.want) || !slices.Equal(f.rows, c.rows) {
		return fmt.Errorf("flushes before each row: %d, %v, want %d, %v", f.rows, err, c.rows, c.want)
	}
	return nil
}

func (c fullRow) read(ctx context.Context, m *Mailbox) error {
	if _, _, differ, err := m.Compare(ctx, nil); differ || err != nil {
		return fmt.Errorf("compared with no call: differ %v, %v", differ, err)
	}
	told := min(c.notes, Window-1)
	if c.passed {
		told = c.notes
	}
	if c.want != nil {
		told = 0
	}
	if _, passed := m.Passed(0, 8); passed != c.passed || len(m.rows[0]) != told {
		return fmt.Errorf("passed: %v, want %v; %d calls told of, want %d", passed, c.passed, len(m.rows[0]), told)
	}
	return nil
}

// TestPassedWithGaps has rows of a member some of whose calls last longer than later ones.
func TestPassedWithGaps(t *testing.T) {
	row := func(calls ...uint64) (notes []Note) {
		for _, c := range calls {
			notes = append(notes, Note{Call: c})
		}
		return notes
	}
	full := row(30, 15, 31, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)
	for _, c := range []struct {
		row         []Note
		call, later uint64 // 0: it has not passed
	}{
		{full, 14, 15}, // 15 is under way
		{full, 15, 0},
		{full, 16, 17}, // it has overtaken 15
		{full, 17, 0},
		{full, 31, 0},
		{full, 32, 0},
		{full[1:], 14, 0},
		{nil, 0, 0},
	} {
		m := &Mailbox{rows: [][]Note{c.row}}
		if later, ok := m.Passed(0, c.call); ok != (c.later > 0) || later.Call != c.later {
			t.Errorf("call %d: %v before call %d, want %d", c.call, ok, later.Call, c.later)
		}
	}
}
