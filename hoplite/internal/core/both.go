package core

import "slices"

// Where one other rank folds chunks of a target, and gets the target, each chunk is written to its copy when it is
// folded, by whomever. So neither rank reads the target again.

// writeBoth chooses the transfer whose receiver's store gets chunks that nobody has begun to fold. The receiver has an
// input of the job, so that its death begins the job anew.
func (c *Core) writeBoth(j *reductionNode) {
	if len(j.helpers) != 1 || !j.inOneFold() || c.receiver(j) != nil || j.next == j.size {
		return
	}
	i := slices.IndexFunc(j.out.serve.outs, func(out *outgoing) bool {
		return out.to == j.helpers[0] && out.lend && !out.borrow && !out.stream && !out.stopping
	})
	if i >= 0 {
		out := j.out.serve.outs[i]
		j.both, out.written = out.id, j.size-j.next
		if c.cfg.has(MutantWrittenAll) {
			out.written = j.size
		}
		c.say(out)
	}
}

// receiver returns the transfer to whose receiver's store chunks are written, too, or nil.
func (c *Core) receiver(j *reductionNode) *outgoing {
	if out := c.transfers[j.both]; out != nil && !out.stopping {
		return out
	}
	return nil
}

// also returns where a chunk of a job belongs beside the target, and the transfer of the copy there, nil if it belongs
// nowhere else.
func (c *Core) also(j *reductionNode, at int64) (Operand, *outgoing) {
	out := c.receiver(j)
	if out == nil || at < j.size-out.written {
		return Operand{}, nil
	}
	return Operand{out.to, out.off + at}, out
}
