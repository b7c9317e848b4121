package talk

import "sync"

// Window is how many bytes of a stream may be under way: sent, and not yet
// taken by whoever reads the stream at the other side. A reader that has stopped
// so holds up its own stream only, and never the signs of life.
const Window = 64 << 10

// MaxPiece bounds the bytes of a stream that travel in one frame.
const MaxPiece = 16 << 10

// A Credit is the sender's account of one stream.
type Credit struct {
	mu   sync.Mutex
	cond sync.Cond
	left int
	over bool
}

// NewCredit returns an account with a whole window in it.
func NewCredit() *Credit {
	c := &Credit{left: Window}
	c.cond.L = &c.mu
	return c
}

// Take blocks until something may be sent, and takes at most n bytes of it. It
// returns 0 when the account is closed.
func (c *Credit) Take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.left == 0 && !c.over {
		c.cond.Wait()
	}
	if c.over {
		return 0
	}
	n = min(n, c.left, MaxPiece)
	c.left -= n
	return n
}

// Add gives back what the reader has taken.
func (c *Credit) Add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = min(c.left+max(n, 0), Window)
	c.cond.Broadcast()
}

// Close ends all Takes, now and later.
func (c *Credit) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.cond.Broadcast()
}

// An Inflow is the receiver's side of one stream: the bytes that have come and were not taken
// yet. Filling it never blocks.
type Inflow struct {
	mu      sync.Mutex
	cond    sync.Cond
	pieces  [][]byte
	waiting int // bytes in pieces
	over    bool
}

// NewInflow returns one in which nothing is.
func NewInflow() *Inflow {
	f := &Inflow{}
	f.cond.L = &f.mu
	return f
}

// Put adds a piece, which it takes. It reports false if the sender has sent more
// than it may; the piece is then dropped.
func (f *Inflow) Put(piece []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return true
	}
	if f.waiting+len(piece) > Window {
		return false
	}
	f.waiting += len(piece)
	f.pieces = append(f.pieces, piece)
	f.cond.Signal()
	return true
}

// Next blocks until there is a piece, and returns it; nil is the end. The taker
// tells the sender when it is done with the piece.
func (f *Inflow) Next() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.pieces) == 0 && !f.over {
		f.cond.Wait()
	}
	if len(f.pieces) == 0 {
		return nil
	}
	piece := f.pieces[0]
	f.pieces = f.pieces[1:]
	f.waiting -= len(piece)
	return piece
}

// Close says that nothing more will come. Bytes that have come can still be taken.
func (f *Inflow) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.cond.Signal()
}
