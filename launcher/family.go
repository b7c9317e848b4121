package launcher

import (
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// An ownChildren is the children of this process that are nobody's leftovers: ranks,
// the keeper, and what carries agents. All others are processes that the system
// has given to this one because their own parent has ended.
type ownChildren struct {
	mu      sync.Mutex
	members []int
}

// begin starts a process that is a member from the beginning: with the lock
// held, nobody takes it for an orphan.
func (f *ownChildren) begin(start func() (pid int, err error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	pid, err := start()
	if err == nil {
		f.members = append(f.members, pid)
	}
	return err
}

// leave takes a process out that somebody else has waited for.
func (f *ownChildren) leave(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members = slices.DeleteFunc(f.members, func(m int) bool { return m == pid })
}

// orphans returns the children that are no members, after it has reaped those
// of them that have ended.
func (f *ownChildren) orphans() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var living []int
	for _, pid := range sys.Children() {
		if !slices.Contains(f.members, pid) && !sys.ReapIfEnded(pid) {
			living = append(living, pid)
		}
	}
	return living
}
