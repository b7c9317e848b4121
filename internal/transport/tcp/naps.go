package tcp

import (
	"time"

	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
)

const (
	// napLeast and napMost bound a nap of the thread where ranks have cores of their own. Always
	// 50 us made round trips of 8 bytes take 1.8 us longer, of 8.5: two processes on two cores.
	napLeast = remote.NapLeast
	napMost  = time.Millisecond
	// napShared is the longest nap where ranks share cores, and napMost the first. One that polls may
	// have to wait for a core for so long, and does not want its work done by another thread that
	// wants one too. With 1 ms at most, an alltoall of 1 MiB among 4 ranks of 2 cores took 5 %
	// longer than with 3 ms, and 10 % longer than so.
	napShared = 10 * time.Millisecond
)

// naps decide how long the thread leaves the work to callers that poll.
type naps struct {
	nap    time.Duration // the next one
	most   time.Duration
	shared bool          // ranks share cores
	quiet  time.Duration // without a poll, though a wait was under way
}

// napsOf returns the naps of the thread of a rank that waits by w.
func napsOf(w *notify.WaitPolicy) naps {
	if w.Spin == 0 {
		return naps{nap: napMost, most: napShared, shared: true}
	}
	return naps{nap: napLeast, most: napMost}
}

// end is told after a nap whether somebody has polled meanwhile, and whether a wait is under way. It reports
// whether the thread should take over, and sets the next nap otherwise.
//
// Naps grow as long as callers poll. Where ranks share cores, a wait that has not polled has no core, and is left alone
// for napShared. A rank without a wait computes: peers that want something of it now must not wait for a long nap.
func (n *naps) end(polled, waits bool) bool {
	if polled {
		n.quiet = 0
	} else if n.quiet += n.nap; !n.shared || !waits || n.quiet >= napShared {
		return true
	}
	if n.nap = min(2*n.nap, n.most); n.shared && !waits {
		n.nap = napMost
	}
	return false
}
