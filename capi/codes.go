//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"errors"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// errNull is memory that a call needs and that C does not give.
var errNull = errors.New("NULL")

// codes are the return codes of errors, the first that matches.
var codes = []struct {
	err  error
	code int32
}{
	{errNull, C.GASPI_ERR_NULLPTR},
	{gaspi.ErrRankDead, C.GGO_LOST},
	{gaspi.ErrClosed, C.GGO_CLOSED},
	{gaspi.ErrBadRank, C.GASPI_ERR_INV_RANK},
	{gaspi.ErrOutOfRange, C.GASPI_ERR_INV_REM_OFF},
	{gaspi.ErrNoSegment, C.GASPI_ERR_INV_SEG},
	{gaspi.ErrNoNotification, C.GASPI_ERR_INV_NOTIF_ID},
	{gaspi.ErrZeroValue, C.GASPI_ERR_INV_NOTIF_VAL},
	{gaspi.ErrUnaligned, C.GASPI_ERR_UNALIGN_OFF},
	{gaspi.ErrTooLarge, C.GASPI_ERR_INV_COMMSIZE},
	{gaspi.ErrTooMany, C.GASPI_ERR_MANY_GRP},
	{gaspi.ErrInUse, C.GASPI_ERR_ACTIVE_COLL},
	{gaspi.ErrLauncherLost, C.GASPI_ERR_SN},
	{hoplite.ErrMismatch, C.GASPI_ERR_INV_SIZE},
	{hoplite.ErrFull, C.GASPI_ERR_MEMALLOC},
	{hoplite.ErrClosed, C.GASPI_ERROR},
	{syscall.EMFILE, C.GASPI_ERR_EMFILE},
	{syscall.ENOMEM, C.GASPI_ERR_MEMALLOC},
}

// code returns the return code of an error. It neither allocates nor formats for nil, a time
// limit and a full queue.
func code(err error) int32 {
	switch err {
	case nil:
		return C.GASPI_SUCCESS
	case gaspi.ErrQueueFull:
		return C.GASPI_QUEUE_FULL
	case errNotYet:
		return C.GASPI_TIMEOUT
	}
	if late(err) {
		return C.GASPI_TIMEOUT
	}
	library.lost.mark(library.proc.Load())
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return C.GASPI_ERROR
}

// codeFor is code with another code in place of from.
func codeFor(err error, from, to int32) int32 {
	if c := code(err); c != from {
		return c
	}
	return to
}
