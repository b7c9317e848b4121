//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// ggo_group_create makes an empty group under the lowest number below most that is free.
//
//export ggo_group_create
func ggo_group_create(most uint32, out *C.gaspi_group_t) int32 {
	s := library
	p := s.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	s.grouping.Lock()
	defer s.grouping.Unlock()
	for id := range min(int(most), ids) {
		if s.groups[id].Load() != nil {
			continue
		}
		g, err := p.NewGroup()
		if err != nil {
			return code(err)
		}
		s.groups[id].Store(g)
		*out = C.gaspi_group_t(id)
		return C.GASPI_SUCCESS
	}
	return C.GASPI_ERR_MANY_GRP
}

// ggo_group_add adds a rank.
//
//export ggo_group_add
func ggo_group_add(id uint8, r uint16) int32 {
	g := library.group(id)
	if g == nil {
		return C.GASPI_ERR_INV_GROUP
	}
	if slices.Contains(g.Ranks(), gaspi.Rank(r)) {
		return C.GASPI_ERR_INV_RANK
	}
	return codeFor(g.Add(gaspi.Rank(r)), C.GASPI_ERR_ACTIVE_COLL, C.GASPI_ERR_INV_GROUP)
}

// ggo_group_delete deletes a group; that of all ranks stays.
//
//export ggo_group_delete
func ggo_group_delete(id uint8) int32 {
	s := library
	s.grouping.Lock()
	defer s.grouping.Unlock()
	g := s.group(id)
	if g == nil || id == 0 {
		return C.GASPI_ERR_INV_GROUP
	}
	if err := g.Delete(); err != nil {
		return code(err)
	}
	s.groups[id].Store(nil)
	return C.GASPI_SUCCESS
}

// ggo_group_commit commits a group. One that is committed already stays so.
//
//export ggo_group_commit
func ggo_group_commit(id uint8, ms uint64) int32 {
	g := library.group(id)
	if g == nil {
		return C.GASPI_ERR_INV_GROUP
	}
	return code(within(ms, func(ctx context.Context) error { return g.Commit(ctx) }))
}
