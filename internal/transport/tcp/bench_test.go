package tcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// The benchmarks run two processes: this one is rank 0, and it starts its own
// program again as rank 1. Each compares with bare sockets that spin, in turns, so
// that both see the same machine:
//
//	go test ./internal/transport/tcp -run '^$' -bench Process

const benchMemory = 64 << 20

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{"bench": benchChild})
}

// benchOrder is what rank 1 is told.
type benchOrder struct {
	Key, Address, Bare string
	Size, Count        int
	Rounds             int
}

// benchRank is one side.
type benchRank struct {
	order benchOrder
	rank  base.Rank
	t     *Transport
	link  transport.Link
	q     *transport.Queue
	seg   *segment.Segment
	bare  int // descriptor of the bare connection
	buf   []byte
	vec   socket.Vector
	wait  *notify.WaitPolicy
}

// open makes the transport; peer says where the other rank is.
func (b *benchRank) open(key auth.Key, peer func() string, change func(*Config)) error {
	b.wait = notify.ProcessWait(time.Second, 0)
	b.wait.PollFirst = true
	var err error
	cfg := Config{
		Rank: b.rank, Size: 2, IDs: 4, Job: "bench", Credentials: auth.Credentials{Key: key}, WaitPolicy: b.wait,
		Lookup: func(context.Context, base.Rank) (string, error) { return peer(), nil },
		Begin:  func(t *Transport) { t.PolledBy(b.wait) },
	}
	if change != nil {
		change(&cfg)
	}
	b.t, err = New(cfg)
	if err != nil {
		return err
	}
	if b.seg, err = segment.Create(benchMemory, 16, b.wait); err != nil {
		return err
	}
	mem := b.seg.All().Bytes()
	for i := 0; i < len(mem); i += 4096 {
		mem[i] = 1
	}
	b.buf = make([]byte, benchMemory)
	for i := 0; i < len(b.buf); i += 4096 {
		b.buf[i] = 1
	}
	if err := b.t.Expose(1, b.seg); err != nil {
		return err
	}
	b.q = transport.NewQueue(1<<10, 0)
	b.link, err = b.t.Link(1 - b.rank)
	return err
}

func (b *benchRank) take(c net.Conn) (err error) {
	b.bare, err = socket.Take(c.(*net.TCPConn), socket.Tuning{Congestion: "reno"})
	return err
}

// bareMove moves n bytes over the bare connection, spinning: one system call for
// as much as goes at a time, and nothing else.
func (b *benchRank) bareMove(n int, move func(*socket.Vector, int) (int, syscall.Errno)) {
	for at := 0; at < n; {
		b.vec.Reset()
		b.vec.Add(b.buf[at:n])
		k, errno := move(&b.vec, b.bare)
		if socket.Again(errno) {
			continue
		}
		if errno != 0 || k == 0 {
			panic(fmt.Sprint("bare connection: ", k, errno))
		}
		at += k
	}
}

func (b *benchRank) bareRounds() {
	o := b.order
	for range o.Rounds {
		if b.rank == 0 {
			for range o.Count {
				b.bareMove(o.Size, (*socket.Vector).Send)
			}
			b.bareMove(8, (*socket.Vector).Receive)
		} else {
			for range o.Count {
				b.bareMove(o.Size, (*socket.Vector).Receive)
			}
			b.bareMove(8, (*socket.Vector).Send)
		}
	}
}

func (b *benchRank) rounds() error {
	o := b.order
	ctx := context.Background()
	body, err := b.seg.Span(0, uint64(o.Size))
	if err != nil {
		return err
	}
	short, err := b.seg.Span(0, 8)
	if err != nil {
		return err
	}
	at := transport.Addr{Segment: 1}
	for range o.Rounds {
		if b.rank == 0 {
			for range o.Count {
				if err := b.link.PutNotify(b.q, at, body, transport.Flag{Segment: 1, ID: 0, Value: 1, Add: o.Count > 1}); err != nil {
					return err
				}
			}
			if err := b.q.Wait(ctx, b.wait, nil); err != nil {
				return err
			}
			if err := b.awaitValue(1); err != nil {
				return err
			}
			continue
		}
		if err := b.awaitValue(o.Count); err != nil {
			return err
		}
		if err := b.link.PutNotify(b.q, at, short, transport.Flag{Segment: 1, ID: 0, Value: 1}); err != nil {
			return err
		}
	}
	return nil
}

func (b *benchRank) awaitValue(v int) error {
	array := b.seg.Notifications()
	if _, err := array.Wait(context.Background(), notify.Until(0, notify.Equal, notify.Value(v)), nil, nil); err != nil {
		return err
	}
	_, err := array.Reset(0)
	return err
}

// benchChild is rank 1: it does what rank 0 does, as long as that writes lines. Its argument is
// a benchOrder.
func benchChild(_ context.Context, args []string) error {
	b := &benchRank{rank: 1}
	if err := json.Unmarshal([]byte(args[0]), &b.order); err != nil {
		return err
	}
	key, err := auth.ParseKey(b.order.Key)
	if err != nil {
		return err
	}
	if err := b.open(key, func() string { return b.order.Address }, nil); err != nil {
		return err
	}
	defer b.t.Close()
	if err := b.t.Grant(1, 0); err != nil {
		return err
	}
	c, err := net.Dial("tcp", b.order.Bare)
	if err != nil {
		return err
	}
	if err := b.take(c); err != nil {
		return err
	}
	fmt.Println(b.t.Address())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if in.Text() == "bare" {
			b.bareRounds()
		} else if err := b.rounds(); err != nil {
			return err
		}
	}
	return nil
}

// startPair starts rank 1 and returns rank 0, and how to tell rank 1 to take part.
func startPair(tb testing.TB, o benchOrder, change func(*Config)) (b *benchRank, tell func(string), kill func()) {
	tb.Helper()
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	key := auth.NewKey()
	b = &benchRank{rank: 0, order: o}
	var peer string
	check(b.open(key, func() string { return peer }, change))
	check(b.t.Grant(1, 1))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	o.Key, o.Address, o.Bare = key.Text(), b.t.Address(), listener.Addr().String()
	text, err := json.Marshal(o)
	check(err)
	child := testenv.Command(context.Background(), "bench", string(text))
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	check(err)
	stdout, err := child.StdoutPipe()
	check(err)
	check(child.Start())
	tb.Cleanup(func() {
		b.t.Close()
		stdin.Close()
		child.Wait()
	})
	c, err := listener.Accept()
	check(err)
	check(b.take(c))
	line, err := bufio.NewReader(stdout).ReadString('\n')
	check(err)
	peer = line[:len(line)-1]
	tell = func(what string) { fmt.Fprintln(stdin, what) }
	return b, tell, func() { child.Process.Kill() }
}

// BenchmarkProcesses compares the transport with bare sockets: us-bare and us-ours
// are medians for one round, ratio is ours by bare.
func BenchmarkProcesses(b *testing.B) {
	for _, c := range []benchOrder{
		{Size: 8, Count: 1, Rounds: 2000},
		{Size: 4096, Count: 1, Rounds: 1000},
		{Size: 64 << 10, Count: 8, Rounds: 40},
		{Size: 1 << 20, Count: 16, Rounds: 4},
		{Size: 64 << 20, Count: 1, Rounds: 3},
	} {
		b.Run(strconv.Itoa(c.Size), func(b *testing.B) {
			pair, tell, _ := startPair(b, c, nil)
			var bare, ours, ratio []float64
			for b.Loop() {
				for range 15 {
					tell("bare")
					x := timed(c, pair.bareRounds)
					tell("ours")
					y := timed(c, func() {
						if err := pair.rounds(); err != nil {
							b.Fatal(err)
						}
					})
					bare, ours, ratio = append(bare, x), append(ours, y), append(ratio, y/x)
				}
			}
			b.ReportMetric(median(bare), "us-bare")
			b.ReportMetric(median(ours), "us-ours")
			b.ReportMetric(median(ratio), "ratio")
			b.ReportMetric(slices.Min(bare), "us-bare-min")
			b.ReportMetric(slices.Min(ours), "us-ours-min")
			if c.Size > 4096 {
				b.ReportMetric(float64(c.Size*c.Count)/median(ours)/1e3, "GB/s")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// timed is how many microseconds a round of f takes.
func timed(o benchOrder, f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds() * 1e6 / float64(o.Rounds)
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}
