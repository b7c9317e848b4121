package core

type job struct{ out *object }
type reduction struct {
	target    string
	withdrawn uint64
	call      Call
}

func (c *Core) jobMessage(from Rank, m Message)              {}
func (c *Core) jobsAfter(d Rank)                             {}
func (c *Core) step(j *job)                                  {}
func (c *Core) failJob(j *job, why Code)                     {}
func (c *Core) roomForJob(n *need) bool                      { return false }
func (c *Core) jobsHold() bool                               { return false }
func (c *Core) reduceOf(o *object) *reduction                { return nil }
func (c *Core) targetDropped(r *reduction, why Code)         {}
func (c *Core) targetKnown(o *object, m Message)             {}
func (c *Core) sourceLocated(r *reduction, i int, m Message) {}
func (c *Core) endReduce(r *reduction, x bool)               {}
func (c *Core) jobMemory(put func(*object))                  {}
func (c *Core) Reduce(id Call, target string, sources []string, count int, op uint32) {
	c.calls[id] = &call{id: id}
	c.result(Result{Call: id, Code: Mismatch})
}
