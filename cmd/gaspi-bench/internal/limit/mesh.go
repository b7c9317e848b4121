package limit

import (
	"context"
	"fmt"
	"net"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A mesh is the limit of an alltoall where ranks do not share memory: bare TCP
// connections between all ranks, over which each sends its blocks to the others
// and receives theirs, and a copy of its own block. There are no headers, and
// nobody waits until another is ready: how much a block is both sides know, and what
// a connection does not take is for later.
type mesh struct {
	b        *Memory
	me       int
	fd       []int // index is the rank; -1 for the own
	block    int   // bytes
	src, dst []byte
	out, in  socket.Vector

	sent, taken []int // of an operation, by round: bytes sent to its receiver, taken from its sender
}

// Mesh is the ways to exchange blocks over a mesh, and what fills and checks the
// buffers; no ways if there is no mesh to compare with.
func (b *Memory) Mesh(ctx context.Context, s *CallShape) ([]BareCall, Buffers, error) {
	if s.Ranks == 1 || !b.Wired() {
		return nil, Buffers{}, nil
	}
	m := &mesh{b: b, me: int(b.P.Rank()), block: s.block, sent: make([]int, s.Ranks), taken: make([]int, s.Ranks)}
	if err := m.connect(ctx); err != nil {
		return nil, Buffers{}, fmt.Errorf("the connections to compare with: %w", err)
	}
	m.src, m.dst = written(s.In), written(s.Out)
	return m.ways(), Buffers{In: m.src, Out: m.dst, Fill: m.fill, Check: m.check}, nil
}

// ways are the orders in which blocks go, in each portion. Each order is the fastest somewhere: all at
// once, all sent at once but received one after the other, which takes fewer looks, and one
// after the other both ways, which keeps what is copied in the cache.
func (m *mesh) ways() (ways []BareCall) {
	all := len(m.fd) - 1
	orders := [][2]int{{all, all}, {all, 1}, {1, 1}}
	if all == 1 {
		orders = orders[:1]
	}
	for _, p := range portionsOf(m.block) {
		for _, o := range orders {
			ways = append(ways, func(ctx context.Context) error { return m.exchange(ctx, o[0], o[1], p) })
		}
	}
	return ways
}

// connect makes the connections. Of two ranks the one with the higher number listens.
// One rank after the other does so, because there is one notification for a port.
func (m *mesh) connect(ctx context.Context) error {
	p := m.b.P
	m.fd = make([]int, p.Size())
	m.fd[m.me] = -1
	for listens := range p.Size() {
		var err error
		switch {
		case listens == m.me:
			err = m.accept(ctx)
		case listens > m.me:
			err = m.dial(ctx, listens)
		}
		if err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
	}
	return nil
}

// accept takes a connection from each rank before this one.
func (m *mesh) accept(ctx context.Context) error {
	for r := range m.me {
		l, err := m.b.invite(ctx, gaspi.Rank(r))
		if err != nil {
			return err
		}
		conn, err := l.AcceptTCP()
		l.Close()
		if err != nil {
			return err
		}
		if err := m.keep(conn, r); err != nil {
			return err
		}
	}
	return nil
}

func (m *mesh) dial(ctx context.Context, r int) error {
	conn, err := m.b.dial(ctx)
	if err != nil {
		return err
	}
	return m.keep(conn, r)
}

// keep makes conn the connection to rank r.
func (m *mesh) keep(conn *net.TCPConn, r int) (err error) {
	if m.fd[r], err = take(conn); err != nil {
		return err
	}
	closeLate(m, m.fd[r])
	return nil
}

// exchange does an alltoall. In round d a rank sends to the one d places on and
// receives from the one d places back. Blocks of so many rounds are under way at a time.
func (m *mesh) exchange(ctx context.Context, sends, takes int, p portion) error {
	clear(m.sent)
	clear(m.taken)
	copied := 0
	for looks := 1; ; looks++ {
		n, unsent, err := m.some(sends, p.send, &m.out, m.sent, m.src, m.ahead, (*socket.Vector).Send)
		if err != nil {
			return err
		}
		k, untaken, err := m.some(takes, p.take, &m.in, m.taken, m.dst, m.back, (*socket.Vector).Receive)
		if err != nil {
			return err
		}
		switch {
		case unsent+untaken == 0 && copied == m.block:
			return nil
		case n+k > 0:
		case copied < m.block: // where it would wait
			copied += m.copyOwn(copied)
		default:
			m.b.pause()
		}
		if err := checkAt(ctx, looks); err != nil {
			return err
		}
	}
}

// meshCopy is how much of its own block a rank copies before it looks at the
// connections again.
const meshCopy = 64 << 10

// copyOwn copies a part of the own block, from there on, and returns how much.
func (m *mesh) copyOwn(from int) int {
	end := min(from+meshCopy, m.block)
	return copy(m.of(m.dst, m.me)[from:end], m.of(m.src, m.me)[from:end])
}

// some moves at most portion bytes of each of the first blocks that have not moved to their end, most
// of them at most, in one direction. It returns how many bytes it moved, and how many
// blocks are left.
func (m *mesh) some(most, portion int, v *socket.Vector, done []int, blocks []byte, peer func(round int) int, call callOfSystem) (moved, left int, err error) {
	for round := 1; round < len(m.fd); round++ {
		if done[round] == m.block {
			continue
		}
		if most > 0 {
			most--
			r := peer(round)
			n, err := step(v, m.fd[r], m.of(blocks, r), done[round], m.block, portion, call)
			if err != nil {
				return moved, left, err
			}
			done[round] += n
			moved += n
			if done[round] == m.block {
				continue
			}
		}
		left++
	}
	return moved, left, nil
}

func (m *mesh) ahead(round int) int { return (m.me + round) % len(m.fd) }

func (m *mesh) back(round int) int { return (m.me - round + len(m.fd)) % len(m.fd) }

// of is the block of a rank.
func (m *mesh) of(blocks []byte, rank int) []byte { return blocks[rank*m.block:][:m.block] }

// fill marks every block with who sends it to whom.
func (m *mesh) fill(iteration int) {
	clear(m.dst)
	for r := range m.fd {
		Stamp(m.of(m.src, r), m.mark(iteration, m.me, r))
	}
}

func (m *mesh) check(iteration int) error {
	for r := range m.fd {
		if err := Verify(m.of(m.dst, r), m.mark(iteration, r, m.me)); err != nil {
			return fmt.Errorf("the block of rank %d: %w", r, err)
		}
	}
	return nil
}

func (m *mesh) mark(iteration, from, to int) uint32 {
	n := len(m.fd)
	return uint32((iteration*n+from)*n + to)
}
