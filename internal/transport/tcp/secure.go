package tcp

// With TLS, the same frames go through a stream that blocks, by one goroutine for
// each direction.

// sendLoop sends the queued frames of a connection with TLS.
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
			o.mu.Unlock()
			c.t.fail(c, err)
			o.mu.Lock()
			if r.queue != nil {
				r.queue.End(&r.op, o.ended)
			}
			return
		}
		o.doneLocked(r)
	}
}

// write sends one frame, in pieces that are a TLS record each. It assembles them in buf.
func (c *conn) write(r *queuedFrame, buf []byte) error {
	buf = append(buf, r.head[:]...)
	for at := 0; ; {
		n := c.copyBody(buf[len(buf):cap(buf)], r, at)
		at += n
		if _, err := c.secure.Write(buf[:len(buf)+n]); err != nil || at == len(r.body) {
			return err
		}
		buf = buf[:0]
	}
}

// copyBody copies the payload of r from byte at on. It reads the payload of a reply under
// the lock that a withdrawal waits for, and zeros after the withdrawal.
func (c *conn) copyBody(dst []byte, r *queuedFrame, at int) int {
	if r.from == nil {
		return copy(dst, r.body[at:])
	}
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	n := min(len(dst), len(r.body)-at)
	if r.from.Usable() {
		return copy(dst, r.body[at:])
	}
	clear(dst[:n])
	return n
}

// receiveLoop receives on a connection with TLS. It copies, so that no memory of a
// segment is in use while it blocks.
func (c *conn) receiveLoop() {
	buf := make([]byte, directMost)
	for {
		head := copy(buf, c.in.part[:c.in.have]) // changed by this goroutine alone
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
			c.t.fail(c, err)
			return
		}
	}
}
