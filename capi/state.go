//go:build capi && cgo && linux

package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// ids is how many ids of segments, queues and groups C has: they are bytes.
const ids = 256

// extraGroups is how many groups there are beside those of the GASPI interface, for teams, stale
// reductions and stores.
const extraGroups = 96

// A rankState is the rank that this process is, as C names its parts: by numbers.
type rankState struct {
	proc     atomic.Pointer[gaspi.Proc]
	segments [ids]atomic.Pointer[gaspi.Segment]
	queues   [ids]atomic.Pointer[gaspi.Queue]
	groups   [ids]atomic.Pointer[gaspi.Group]
	barriers [ids]*gaspi.BarrierMapping // of the thread whose turn it is at the group
	joining  joining
	sends    passiveSends
	maps     mappings
	handles  handles
	lost     lostRanks

	grouping sync.Mutex // held while a group takes a number
}

// library is the state of this process: the functions of a C library have no other place for it.
var library = newRankState()

func newRankState() *rankState { return new(rankState) }

// group returns a group by its number, nil if there is none.
func (s *rankState) group(id uint8) *gaspi.Group { return s.groups[id].Load() }

// noNumber is the error of a number that names nothing.
func noNumber(what string, id uint8) error { return fmt.Errorf("no %s %d", what, id) }

// complain writes a line about a call that has no other way to say what is wrong.
func complain(err error) { fmt.Fprintln(os.Stderr, err) }
