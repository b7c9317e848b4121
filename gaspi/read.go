package gaspi

// Read copies src, at another rank, to dst. It does not block: dst is filled
// once the next Wait on the queue has returned. It is not ordered against any
// other operation. If the queue is full it returns ErrQueueFull and has had no
// effect. With an empty dst it moves nothing and takes no entry of the queue; src
// must lie in a segment all the same, or at its end.
func (q *Queue) Read(dst Span, src Remote) error {
	way, err := q.enter(src, dst)
	if err != nil {
		return q.refused("read", src, dst.Len(), err)
	}
	if dst.Len() == 0 {
		return q.empty("read", src, way.Get(q.traffic, dst, src.addr()))
	}
	if !q.take(src.Rank, 1) {
		return ErrQueueFull
	}
	if err := way.Get(q.traffic, dst, src.addr()); err != nil {
		return q.dropped("read", src, dst.Len(), err)
	}
	q.reads.Add(1)
	q.fetched.Add(dst.Len())
	return nil
}

// ReadNotify is Read, and then posts n in the local segment of dst: whoever sees
// it there sees the data, without a Wait. (The standard always posts the value
// 1.) With an empty dst it only notifies; dst must be of a segment all the same.
func (q *Queue) ReadNotify(dst Span, src Remote, n Notification) error {
	way, err := q.enter(src, dst)
	if err == nil && dst.Segment() == nil {
		err = ErrNoSegment
	}
	if err == nil {
		err = dst.Segment().Notifications().Check(n.ID, n.Value)
	}
	if err != nil {
		return q.refused("read_notify", src, dst.Len(), err)
	}
	if !q.take(src.Rank, 1) {
		return ErrQueueFull
	}
	if err := way.GetNotify(q.traffic, dst, src.addr(), dst.Segment().Notifications(), n.flag(0)); err != nil {
		return q.dropped("read_notify", src, dst.Len(), err)
	}
	q.reads.Add(1)
	q.fetched.Add(dst.Len())
	return nil
}
