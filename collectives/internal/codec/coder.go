package codec

// A Coder codes vectors of one kind of element. It keeps memory between calls, so
// that coding vectors that are no longer than earlier ones allocates nothing but
// what klauspost/compress takes from its pools after a garbage collection. It is for
// one goroutine at a time.
type Coder struct {
	method  Method
	element Element

	plane []byte    // a block, shuffled: see pack.go
	small []byte    // a block, compressed
	next  []float64 // what will be lost: see Encode
	value []float64 // see topk.go
	order []float64
}

// NewCoder makes a coder, or says why there is none.
func NewCoder(m Method, e Element) (*Coder, error) {
	if err := m.Check(e); err != nil {
		return nil, err
	}
	return &Coder{method: m, element: e}, nil
}

// Encode writes the form of src to dst, which has room for HeaderSize bytes more
// than src and does not overlap it, and returns its length.
//
// lost, if not nil, has an entry per element: what coding has lost of it so far.
// It is added to what is coded, and set to what is lost now. So the sum of what is
// given back in many calls differs from the sum of what was given by what is in lost
// at the end and by rounding. The promises of Lossless and ErrorBound for one call hold all the
// same: half of the bound is for the loss carried over.
func (c *Coder) Encode(dst, src []byte, lost []float64) int {
	size := c.element.Size
	count := len(src) / size
	if len(src) != count*size || len(dst) < HeaderSize+len(src) || lost != nil && len(lost) != count {
		panic("codec: lengths of vectors do not fit")
	}
	body := dst[HeaderSize : HeaderSize+len(src)]
	n, how := 0, packed
	switch c.method.kind {
	case lossless:
		n = c.pack(body, src)
	case errorBound:
		n, how = c.quantise(body, src, lost), quantised
	case topK:
		n, how = c.thin(body, src, lost), sparse
	}
	if n == 0 { // it would be longer
		n, how = copy(body, src), plain
	}
	return seal(dst, how, count, n)
}

// Decode stores in dst what form is the coded form of. form may be longer than the
// form at its beginning. The error matches ErrCorrupt.
func (c *Coder) Decode(dst, form []byte) error {
	how, count, body, err := open(form)
	if err != nil {
		return err
	}
	size := c.element.Size
	if want := len(dst) / size; count != uint64(want) || len(dst) != want*size {
		return corrupt("it is of %d elements; want %d", count, want)
	}
	switch {
	case how == plain && len(body) == len(dst):
		copy(dst, body)
		return nil
	case how == packed:
		return c.unpack(dst, body)
	case how == quantised && c.element.Number != Opaque:
		return c.restore(dst, body)
	case how == sparse && c.element.Number != Opaque:
		return c.spread(dst, body)
	}
	return corrupt("scheme %d with %d bytes", how, len(body))
}

// room is mem with n entries, and more room if it had too little.
func room[T any](mem []T, n int) []T {
	if cap(mem) < n {
		mem = make([]T, n)
	}
	return mem[:n]
}
