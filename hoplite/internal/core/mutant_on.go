//go:build mutants

package core

import "slices"

// A mutation is the defect that a Config asks for.
type mutation struct{ Mutant Mutant }

func (x mutation) has(m Mutant) bool { return x.Mutant == m }

// mutantKeepsPrefix is MutantKeepPrefix. It reports whether it has handled the message.
func (c *Core) mutantKeepsPrefix(old *reductionNode, m JobReq) bool {
	if !c.cfg.has(MutantKeepPrefix) || old == nil || len(old.ins) != int(m.NumIns) || old.need != nil || len(old.bufs) == 0 {
		return false
	}
	old.key = m.Stream
	for i := range old.ins {
		if old.ins[i] != m.Ins[i] && m.Ins[i].Rank != NoRank && old.bufs[i].recv.slot >= 0 {
			old.ins[i] = m.Ins[i]
			c.pullInput(old, i)
		}
	}
	return true
}

// mutantEvicts is MutantEvictUnasked and MutantEvictInUse. It reports whether it has evicted o.
func (c *Core) mutantEvicts(o *object) bool {
	switch c.cfg.Mutant {
	case MutantEvictUnasked:
		c.forget(o)
		return true
	case MutantEvictInUse:
		for _, out := range o.serve.outs {
			delete(c.transfers, out.id)
		}
		o.serve.outs = nil
	}
	return false
}

// mutantDeletes is MutantDeleteLocal.
func (c *Core) mutantDeletes(e *entry, from Rank) {
	if c.cfg.has(MutantDeleteLocal) {
		e.copies = slices.DeleteFunc(e.copies, func(cp copyAt) bool { return cp.rank != from })
	}
}
