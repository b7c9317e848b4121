package tcp

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// FuzzParse checks that a header that is accepted is exactly what its frame is
// written as, so that no bit is there without a meaning.
func FuzzParse(f *testing.F) {
	for _, x := range examples() {
		f.Add(encoded(x))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headSize {
			return
		}
		h := [headSize]byte(b)
		x, err := parse(&h)
		if err != nil {
			return
		}
		var again [headSize]byte
		if x.put(&again); again != h {
			t.Errorf("% x was accepted and is written as % x", h, again)
		}
	})
}

// FuzzConnection feeds a connection with bytes, cut at several places, that a peer
// with the key may send. For all bytes, nothing panics, nothing but segment 1 is written to,
// and little is allocated.
func FuzzConnection(f *testing.F) {
	var all []byte
	for _, name := range []string{"put", "put and notify", "notify", "get", "compare and swap", "flush", "attach", "data, last", "put refused", "withdrawn", "bye"} {
		x := examples()[name]
		if x.generation != 0 {
			x.generation, x.offset, x.length = 1, 8, min(x.length, 16)
		}
		if x.c != 0 {
			x.b, x.c = 1, 1
		}
		if x.kind == kindData {
			x.number, x.offset, x.length = 0, 0, 16
		}
		one := encoded(x)
		if x.kind == kindPut || x.kind == kindData {
			one = append(one, bytes.Repeat([]byte{1}, int(x.length))...)
		}
		f.Add(one, uint16(len(one)/2))
		all = append(all, one...)
	}
	f.Add(all, uint16(70))
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		c, guards := fuzzed(t)
		for len(b) > 0 {
			n := min(len(b), int(cut)+1)
			if err := c.feedCopy(b[:n]); err != nil {
				break
			}
			b = b[n:]
		}
		for _, g := range guards {
			if !bytes.Equal(g, make([]byte, len(g))) {
				t.Fatal("memory outside the segment was written")
			}
		}
		if n := c.out.requests.pending.Len(); n > 1 {
			t.Fatalf("%d requests are pending, want at most the one that was sent", n)
		}
		records := 0
		for r := c.out.first; r != nil; r = r.next {
			records++
		}
		if records > repliesMost+1 || len(c.out.gets) > repliesMost {
			t.Fatalf("%d answers wait", records)
		}
	})
}

// feedCopy is what the loop of a connection with TLS does with bytes.
func (c *conn) feedCopy(b []byte) error {
	buf := append(bytes.Clone(c.in.part[:c.in.have]), b...)
	return c.feed(buf)
}

// fuzzed is a connection that sends nothing, of rank 0 with rank 1; a segment
// that is exposed to rank 1 between two guards; and a get that is open.
func fuzzed(t *testing.T) (*conn, [][]byte) {
	w := polling()
	tr := &Transport{
		cfg:   Config{Rank: 0, Size: 2, IDs: 4, Connections: 1, WaitPolicy: w, Lookup: nil},
		conns: make([]atomic.Pointer[conn], 2),
	}
	tr.registry.Init(0, 2, 4)
	tr.links.Init(2, func(r base.Rank) *link { return newLink(tr, r) })
	mem := make([]byte, 64+64+64)
	s, err := segment.Bind(mem[64:128:128], 16, w)
	ok(t, err)
	ok(t, tr.Expose(1, s))
	ok(t, tr.Grant(1, base.Rank(1)))
	c := newConn(tr, tr.links.To(1), 0)
	c.secure = new(net.TCPConn) // frames wait for a sender that there is not
	dst := make([]byte, 64+16+64)
	d, err := segment.Bind(dst[64:80:80], 1, w)
	ok(t, err)
	q := transport.NewQueue(4, 0)
	r := &request{queue: q, dst: d.All().Bytes(), keep: d.All()}
	ok(t, c.send(r, &frame{kind: kindGet, length: 16, segment: 1, generation: 1}))
	return c, [][]byte{mem[:64], mem[128:], dst[:64], dst[80:]}
}
