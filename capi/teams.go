//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// failed sets the text of an error for the calling thread and returns its code.
func failed(err error) int32 {
	c := code(err)
	switch c {
	case C.GASPI_SUCCESS, C.GASPI_TIMEOUT:
		return c
	case C.GGO_LOST, C.GGO_CLOSED:
		c = C.GASPI_ERROR
	}
	setError(err.Error())
	return c
}

// held returns the object of a handle.
func held[T any](handle C.gaspigo_handle_t) (T, error) {
	object, ok := library.handles.get(uint64(handle)).(T)
	if !ok {
		return object, fmt.Errorf("handle %d is none of that kind: closed, freed or never made", uint64(handle))
	}
	return object, nil
}

// give stores the handle of an object that a call has made.
func give[T any](object T, err error, out *C.gaspigo_handle_t) int32 {
	if err == nil {
		*out = C.gaspigo_handle_t(library.handles.add(object))
	}
	return failed(err)
}

// closed forgets the handle of an object whose close returned err, and returns the code. One that ran out of time, or that
// another call uses, can be closed again.
func closed(handle C.gaspigo_handle_t, err error) int32 {
	if !late(err) && !errors.Is(err, gaspi.ErrInUse) {
		library.handles.remove(uint64(handle))
	}
	return failed(err)
}

// A team is one of C, with the memory that it has given out.
type team struct {
	*collectives.Team
	allocated map[uintptr][]float64
}

func newTeam(t *collectives.Team) *team { return &team{Team: t, allocated: map[uintptr][]float64{}} }

//export ggo_team_new
func ggo_team_new(group uint8, tag uint32, ms uint64, out *C.gaspigo_handle_t) int32 {
	g := library.group(group)
	if g == nil {
		setError(noNumber("group", group).Error())
		return C.GASPI_ERR_INV_GROUP
	}
	var t *team
	err := during(ms, func(ctx context.Context) error {
		made, err := collectives.NewTeam(ctx, g, collectives.Config{Tag: gaspi.Tag(tag)})
		t = newTeam(made)
		return err
	})
	return give(t, err, out)
}

//export ggo_team_split
func ggo_team_split(handle C.gaspigo_handle_t, color, key int32, ms uint64, out *C.gaspigo_handle_t) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	in := int(color)
	if color < 0 {
		in = collectives.Undefined
	}
	var split *collectives.Team
	err = during(ms, func(ctx context.Context) (err error) {
		split, err = t.Split(ctx, in, int(key))
		return err
	})
	if err == nil && split == nil {
		*out = 0
		return C.GASPI_SUCCESS
	}
	return give(newTeam(split), err, out)
}

//export ggo_team_close
func ggo_team_close(handle C.gaspigo_handle_t) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	return closed(handle, t.Close())
}

//export ggo_team_place
func ggo_team_place(handle C.gaspigo_handle_t, rank, size *C.int) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	*rank, *size = C.int(t.Rank()), C.int(t.Size())
	return C.GASPI_SUCCESS
}

//export ggo_team_ranks
func ggo_team_ranks(handle C.gaspigo_handle_t, out *C.char) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	to := at[uint16](out, uint64(t.Size()))
	for i, r := range t.Ranks() {
		to[i] = uint16(r)
	}
	return C.GASPI_SUCCESS
}

//export ggo_team_revoke
func ggo_team_revoke(handle C.gaspigo_handle_t, cause *C.char) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	return failed(t.Revoke(errors.New(C.GoString(cause))))
}

//export ggo_team_agree
func ggo_team_agree(handle C.gaspigo_handle_t, flags uint32, ms uint64, out *C.uint) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	return failed(within(ms, func(ctx context.Context) error {
		agreed, err := t.Agree(ctx, flags)
		if err == nil {
			*out = C.uint(agreed)
		}
		return err
	}))
}

//export ggo_team_shrink
func ggo_team_shrink(handle C.gaspigo_handle_t, ms uint64, out *C.gaspigo_handle_t) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	var left *collectives.Team
	err = during(ms, func(ctx context.Context) (err error) {
		left, err = t.Shrink(ctx)
		return err
	})
	return give(newTeam(left), err, out)
}

//export ggo_alloc
func ggo_alloc(handle C.gaspigo_handle_t, size, ms uint64, out **C.char) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	var mem []float64
	err = during(ms, func(ctx context.Context) (err error) {
		mem, err = collectives.Alloc[float64](ctx, t.Team, int(size/8+(size%8+7)/8))
		return err
	})
	if err == nil {
		*out = addressOf(mem)
		t.allocated[address(*out)] = mem
	}
	return failed(err)
}

//export ggo_release
func ggo_release(handle C.gaspigo_handle_t, p *C.char, ms uint64) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	mem, ok := t.allocated[address(p)]
	if !ok {
		return failed(errors.New("gaspigo_release: gaspigo_alloc of this team did not return this address"))
	}
	err = within(ms, func(ctx context.Context) error { return collectives.Release(ctx, t.Team, mem) })
	if err == nil {
		delete(t.allocated, address(p))
	}
	return failed(err)
}

//export ggo_do
func ggo_do(handle C.gaspigo_handle_t, c *C.gaspigo_task_t, ms uint64) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	if c.call == C.GASPIGO_ALLTOALLV {
		exchanging, err := ofType(int32(c._type), exchangers)
		if err != nil {
			return failed(err)
		}
		return failed(within(ms, func(ctx context.Context) error { return exchanging(ctx, t.Team, c) }))
	}
	what, err := task(context.Background(), t.Team, c)
	if err != nil {
		return failed(err)
	}
	return failed(within(ms, func(ctx context.Context) error { return collectives.Do(ctx, t.Team, what) }))
}

//export ggo_start
func ggo_start(handle C.gaspigo_handle_t, c *C.gaspigo_task_t, ms uint64, out *C.gaspigo_handle_t) int32 {
	return prepared(handle, c, ms, out, collectives.Start)
}

// prepared gives C what begin makes of the task that it describes.
func prepared[T any](handle C.gaspigo_handle_t, c *C.gaspigo_task_t, ms uint64, out *C.gaspigo_handle_t,
	begin func(context.Context, *collectives.Team, collectives.Task) (T, error)) int32 {
	t, err := held[*team](handle)
	if err != nil {
		return failed(err)
	}
	var made T
	err = during(ms, func(ctx context.Context) error {
		what, err := task(ctx, t.Team, c)
		if err == nil {
			made, err = begin(ctx, t.Team, what)
		}
		return err
	})
	return give(made, err, out)
}

//export ggo_test
func ggo_test(request C.gaspigo_handle_t, done *C.int) int32 {
	h, err := held[*collectives.Handle](request)
	if err != nil {
		return failed(err)
	}
	ended, err := h.Test()
	*done = 0
	if ended {
		*done = 1
	}
	return failed(err)
}

//export ggo_wait_request
func ggo_wait_request(request C.gaspigo_handle_t, ms uint64) int32 {
	h, err := held[*collectives.Handle](request)
	if err != nil {
		return failed(err)
	}
	return failed(within(ms, h.Wait))
}

//export ggo_join
func ggo_join(request C.gaspigo_handle_t, ms uint64) int32 {
	h, err := held[*collectives.Handle](request)
	if err != nil {
		return failed(err)
	}
	return failed(during(ms, func(ctx context.Context) error {
		select {
		case <-h.Done():
			return h.Wait(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
}

//export ggo_free
func ggo_free(handle C.gaspigo_handle_t) int32 {
	if _, err := held[*collectives.Handle](handle); err != nil {
		return failed(err)
	}
	library.handles.remove(uint64(handle))
	return C.GASPI_SUCCESS
}

//export ggo_plan_new
func ggo_plan_new(handle C.gaspigo_handle_t, c *C.gaspigo_task_t, ms uint64, out *C.gaspigo_handle_t) int32 {
	return prepared(handle, c, ms, out, collectives.NewPlan)
}

//export ggo_plan_run
func ggo_plan_run(handle C.gaspigo_handle_t, ms uint64) int32 {
	p, err := held[*collectives.Plan](handle)
	if err != nil {
		return failed(err)
	}
	return failed(within(ms, p.Run))
}

//export ggo_plan_start
func ggo_plan_start(handle C.gaspigo_handle_t, out *C.gaspigo_handle_t) int32 {
	p, err := held[*collectives.Plan](handle)
	if err != nil {
		return failed(err)
	}
	h, err := p.Start()
	return give(h, err, out)
}

//export ggo_plan_close
func ggo_plan_close(handle C.gaspigo_handle_t) int32 {
	p, err := held[*collectives.Plan](handle)
	if err != nil {
		return failed(err)
	}
	return closed(handle, p.Close())
}
