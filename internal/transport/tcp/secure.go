package tcp

// With TLS, the same frames go through a stream that blocks, by one goroutine for
// each direction.

// sendLoop sends what waits in the outbox of a connection with TLS.
func (c *conn) sendLoop() {
	o := &c.out
	buf := make([]byte, 0, scratchSize)
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for o.first == nil && o.ended == nil {
			o.armLocked(false)
			o.more.Wait()
		}
		if o.ended != nil {
			return
		}
		r := o.first
		if o.first = r.next; o.first == nil {
			o.last = nil
		}
		o.busy = true
		o.mu.Unlock()
		err := c.write(r, buf)
		o.mu.Lock()
		o.busy = false
		if err != nil {
			if q := r.queue; q != nil {
				o.mu.Unlock()
				c.t.broken(c, err)
				o.mu.Lock()
				q.End(&r.op, o.ended)
				return
			}
			o.mu.Unlock()
			c.t.broken(c, err)
			o.mu.Lock()
			return
		}
		o.doneLocked(r)
	}
}

// write sends one frame: a short one as one piece, which makes it one TLS record.
func (c *conn) write(r *record, buf []byte) error {
	short := r.body[:min(len(r.body), cap(buf)-headSize)]
	buf = append(append(buf, r.head[:]...), short...)
	if _, err := c.secure.Write(buf); err != nil {
		return err
	}
	if len(short) == len(r.body) {
		return nil
	}
	_, err := c.secure.Write(r.body[len(short):])
	return err
}

// receiveLoop takes what arrives on a connection with TLS. It copies, so that no
// memory of a segment is in use while it waits.
func (c *conn) receiveLoop() {
	buf := make([]byte, directMost)
	for {
		head := copy(buf, c.in.part[:c.in.have]) // nobody else changes them
		n, err := c.secure.Read(buf[head:])
		if n > 0 {
			c.in.mu.Lock()
			wrong := c.feed(buf[:head+n])
			c.in.mu.Unlock()
			if wrong != nil {
				err = wrong
			}
		}
		if err != nil {
			c.t.broken(c, err)
			return
		}
	}
}
