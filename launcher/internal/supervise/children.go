package supervise

import (
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// Children are the children of this process that are nobody's leftovers: ranks,
// the keeper, and what carries agents. All others are processes that the system
// has given to this one because their own parent has ended.
type Children struct {
	mu      sync.Mutex
	members []int
}

// Begin starts a process, of which start returns the number, that is a member from the beginning:
// with the lock held, nobody takes it for an orphan.
func (c *Children) Begin(start func() (pid int, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := start()
	if err == nil {
		c.members = append(c.members, pid)
	}
	return err
}

// Leave takes out a process that somebody else has waited for.
func (c *Children) Leave(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = slices.DeleteFunc(c.members, func(m int) bool { return m == pid })
}

// orphans returns the children that are no members, after it has reaped those
// of them that have ended.
func (c *Children) orphans() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var living []int
	for _, pid := range process.Children() {
		if !slices.Contains(c.members, pid) && !process.ReapIfEnded(pid) {
			living = append(living, pid)
		}
	}
	return living
}
