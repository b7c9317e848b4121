//go:build !mutants

package core

// A mutation is empty without the build tag mutants.
type mutation struct{}

func (mutation) has(Mutant) bool { return false }

func (c *Core) mutantKeepsPrefix(*reductionNode, JobReq) bool { return false }
func (c *Core) mutantEvicts(*object) bool                     { return false }
func (c *Core) mutantDeletes(*entry, Rank)                    {}
