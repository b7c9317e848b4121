//go:build !race

package shm

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/segment"
)

// boundMemory makes segments that their owner's peers reach through it.
func boundMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	return segment.BindShared(make([]byte, size), notifications, waiting())
}

// Goal: the contract holds for memory that its owner bound, too.
func TestContractOfBoundMemory(t *testing.T) {
	transporttest.Run(t, ranksOfOneProcess, boundMemory)
}

// Goal: atomics at an owner that is stopped end, are told apart, and leave their
// stations free. The one that the owner has begun is in doubt; it takes no other.
func TestUnanswered(t *testing.T) {
	transporttest.RunUnanswered(t, ranksOfOneProcess, boundMemory, func(ranks []transport.Transport) func() {
		o := ranks[1].(*Transport).owner
		o.mu.Lock()
		return o.mu.Unlock
	})
}
