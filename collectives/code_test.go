package collectives

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestCorruptForms has rank 1 send forms that are none. Rank 0 says so, and its team
// is unusable until Reset.
func TestCorruptForms(t *testing.T) {
	for _, c := range []struct {
		name    string
		corrupt func(form []byte)
	}{
		{"no header", func(form []byte) { clear(form) }},
		{"of another vector", func(form []byte) { form[8]++ }},
		{"unknown scheme", func(form []byte) { form[4] = 99 }},
		{"first block", func(form []byte) {
			for i := range 8 {
				form[codec.HeaderSize+i] ^= 0xff
			}
		}},
	} {
		for _, op := range []schedule.Operation{schedule.AllReduce, schedule.Broadcast} {
			t.Run(fmt.Sprintf("%v/%s", op, c.name), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				var end [2]error
				err := gaspi.Local(ctx, 2, gaspi.Config{Segments: 64, Groups: 4, Notifications: 64, PassiveMax: 64, KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
					team, err := NewTeam(ctx, p.World(), Config{})
					if err != nil {
						return err
					}
					buf := make([]float64, 5000)
					task := AllReduceTask(buf, Sum, Compress(Lossless()))
					if op == schedule.Broadcast {
						task = BroadcastTask(1, buf, Compress(Lossless()))
					}
					plan, err := NewPlan(ctx, team, task)
					if err != nil {
						return err
					}
					if err := plan.Run(ctx); err != nil {
						return err
					}
					if p.Rank() == 1 {
						err = plan.runWith(ctx, c.corrupt)
					} else {
						err = plan.Run(ctx)
						end[0], end[1] = err, plan.Run(ctx)
						err = nil
					}
					if err := errors.Join(err, team.Reset(ctx)); err != nil {
						return err
					}
					if err := plan.Run(ctx); err != nil {
						return fmt.Errorf("after Reset: %w", err)
					}
					if err := p.Barrier(ctx, p.World()); err != nil {
						return err
					}
					return team.Close()
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, err := range end {
					if !errors.Is(err, codec.ErrCorrupt) {
						t.Errorf("rank 0, run %d after it: %v", i, err)
					}
				}
			})
		}
	}
}

// runWith runs the plan up to its last put, by hand, and has corrupt change each coded
// form before it is sent.
func (p *Plan) runWith(ctx context.Context, corrupt func(form []byte)) error {
	r := &p.run
	r.bind(&p.task)
	r.number = p.runs
	p.runs++
	code := p.prog.lanes[0]
	last := len(code) - 1
	for code[last].kind != schedule.Put && last > 0 {
		last--
	}
	for i := range code[:last+1] {
		in := &code[i]
		var err error
		switch in.kind {
		case schedule.Encode:
			if err = r.code(in); err == nil {
				corrupt(r.bytes(&in.dst[0]))
			}
		case schedule.Put:
			whole := *in
			whole.coded = false
			err = r.post(ctx, &whole)
		case schedule.Signal:
			err = r.post(ctx, in)
		case schedule.Await:
			if p.call.Op == schedule.AllReduce {
				return p.t.queue.Wait(ctx) // for what does not come
			}
			err = p.t.control.WaitUntil(ctx, in.note, gaspi.Reached, posts.Value(r.number*in.per+in.nth))
		}
		if err != nil {
			return err
		}
	}
	return p.t.queue.Wait(ctx)
}

func TestFormsThatAreSent(t *testing.T) {
	call := schedule.Call{Op: schedule.AllReduce, Size: 3, Count: 30, Line: 8}
	emit := func(b *schedule.Builder, c *schedule.Call) {
		n := schedule.CodedLen(c.Count, b.Line())
		m, other := b.Scratch(n), b.Scratch(n)
		b.Encode(m.At(b.Rank(), 0, n), b.In(b.Rank(), 0, c.Count))
		b.Decode(b.Out(b.Rank(), 0, c.Count), other.At(b.Rank(), 0, n))
	}
	s := schedule.Build(&call, 1, emit)
	c := compiler{forms: s.Coded()}
	for _, x := range []struct {
		off  int
		want bool
	}{{0, true}, {37, true}, {40, true}, {80, false}} {
		if got := c.holdsForm(schedule.Region{Rank: 1, Off: x.off, Len: 1}); got != x.want {
			t.Errorf("element %d of scratch holds a form: %v", x.off, got)
		}
	}
}

func TestCodedElements(t *testing.T) {
	type celsius float32
	var got []codec.Number
	for _, e := range []elementType{combinable[float32](), combinable[float64](), combinable[reduce.Float16](), combinable[reduce.BFloat16](),
		combinable[uint16](), combinable[complex64](), movable[celsius](), movable[[2]float32]()} {
		got = append(got, e.coded().Number)
	}
	want := []codec.Number{codec.Float32, codec.Float64, codec.Float16, codec.BFloat16, codec.Opaque, codec.Opaque, codec.Float32, codec.Opaque}
	if !slices.Equal(got, want) {
		t.Errorf("elements are %v, want %v", got, want)
	}
}
