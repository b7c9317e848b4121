package shm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Here rank 0 is the process of the tests and every other rank a process of its
// own: this binary again, told by roleEnv what to do. Its standard input and
// output carry the addresses at the start, and then lines that the roles agree on.

const roleEnv = "GASPI_SHM_TEST_ROLE"

// A child is a rank in a process of its own.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (c *child) say(line string) { fmt.Fprintln(c.in, line) }

// hear is the next line of the child's output; it fails the test if there is none.
func (c *child) hear(t testing.TB) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the other process ended: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// end ends the child as kill -9 does, and returns when it is gone.
func (c *child) end() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// processes makes rank 0 here and ranks that play role in n-1 processes.
func processes(t testing.TB, n int, role string) (*Transport, []*child) {
	t.Helper()
	children := make([]*child, n)
	for r := 1; r < n; r++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRoleOfAnotherProcess$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", roleEnv, role, r, n))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children[r] = &child{cmd: cmd, in: in, out: bufio.NewReader(out)}
		t.Cleanup(children[r].end)
	}
	all := make([]string, n)
	tr, err := Join(0, n, testIDs, among(all))
	if err != nil {
		t.Fatal(err)
	}
	all[0] = tr.Address()
	for r, c := range children[1:] {
		all[r+1] = c.hear(t)
	}
	line, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range children[1:] {
		c.say(string(line))
	}
	tr.WaitWith(waiting())
	t.Cleanup(func() { tr.Close() })
	return tr, children
}

// TestRoleOfAnotherProcess is no test but what the other processes run.
func TestRoleOfAnotherProcess(t *testing.T) {
	var role string
	var r, n int
	if os.Getenv(roleEnv) == "" {
		return
	}
	if _, err := fmt.Sscan(os.Getenv(roleEnv), &role, &r, &n); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(os.Stdin)
	all := make([]string, n)
	tr, err := Join(base.Rank(r), n, testIDs, among(all))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(tr.Address())
	line, err := in.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &all); err != nil {
		t.Fatal(err)
	}
	tr.WaitWith(waiting())
	roles := map[string]func(*testing.T, *Transport, *bufio.Reader){
		"keeper": keeperRole, "checker": checkerRole, "target": targetRole,
	}
	roles[role](t, tr, in)
	if t.Failed() {
		os.Exit(1) // what a failed test prints is lost in the pipe; the status is not
	}
}

// keeperRole exposes segments 0 and 2, which are bound, and 1 and 3, which are not. It serves
// them, and closes when its input says so.
func keeperRole(t *testing.T, tr *Transport, in *bufio.Reader) {
	s := bind(t, tr, 0, make([]byte, 4*bounceBytes))
	bind(t, tr, 2, make([]byte, 8))
	for _, id := range []segment.ID{1, 3} {
		mapped, err := segment.Create(8, 8, waiting())
		if err != nil {
			t.Fatal(err)
		}
		expose(t, tr, id, mapped)
	}
	fmt.Println("ready")
	in.ReadString('\n')
	word, _ := s.Word(0)
	tr.Close()
	fmt.Println("closed", word.Load())
	in.ReadString('\n')
}

func TestStoppedOwner(t *testing.T) {
	tr, children := processes(t, 2, "keeper")
	keeper := children[1]
	keeper.hear(t)
	l := link(t, tr, 1)
	add := func(ctx context.Context) (uint64, error) {
		return l.Atomic(ctx, transport.Addr{}, transport.FetchAdd, 1, 0)
	}
	if _, err := add(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, keeper)

	// The owner cannot have begun, so the request is taken back.
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := add(ctx)
		ended <- err
	}()
	for !asked(l) {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("an atomic that was cancelled ended with %v", err)
	}

	// More callers than stations, one of them with many requests to make.
	src := local(t, make([]byte, 4*bounceBytes))
	back := local(t, make([]byte, 4*bounceBytes))
	for i := range 6 {
		go func() {
			if i > 0 {
				ended <- l.Put(queue, transport.Addr{}, src)
			} else {
				ended <- l.Get(queue, back, transport.Addr{})
			}
		}()
	}
	keeper.cmd.Process.Signal(syscall.SIGCONT)
	for range 6 {
		if err := <-ended; err != nil {
			t.Errorf("after the owner was let go on: %v", err)
		}
	}
	keeper.say("close")
	if got := keeper.hear(t); got != "closed 0" {
		t.Errorf("the owner says %q; want the word as the last put left it, 0", got)
	}
	if _, err := add(t.Context()); !errors.Is(err, base.ErrRankDead) {
		t.Errorf("an atomic at an owner that has closed ended with %v", err)
	}
}

// asked reports whether a request of l waits for its owner to take it.
func asked(l *peerLink) bool {
	lane := l.lane.Load()
	requests := lane.file.Notifications()
	return slices.ContainsFunc(lane.all[:], func(s *station) bool { return requests.Load(s.id) != 0 })
}

// stop stops the child's process and returns when it stands.
func stop(t *testing.T, c *child) {
	t.Helper()
	c.cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("stopping the owner: %v, status %#x", err, status)
	}
}

// An owner that is killed answers no more. Calls that wait for it end when the rank is declared
// lost, and later calls end at once.
func TestOwnerKilledInATransfer(t *testing.T) {
	tr, children := processes(t, 2, "keeper")
	keeper := children[1]
	keeper.hear(t)
	l := link(t, tr, 1)
	src := local(t, make([]byte, 4*bounceBytes))
	if err := l.Put(queue, transport.Addr{}, src); err != nil {
		t.Fatal(err)
	}
	const callers = 5
	ended := make(chan error)
	for i := range callers {
		go func() {
			for {
				err := l.Put(queue, transport.Addr{}, src)
				if i == 0 && err == nil {
					_, err = l.Atomic(t.Context(), transport.Addr{}, transport.FetchAdd, 1, 0)
				}
				if err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	keeper.end()
	gone := &base.RankError{Rank: 1, Reason: "killed by signal 9"}
	tr.Lose(gone)
	for range callers {
		if err := <-ended; err != error(gone) {
			t.Errorf("a transfer ended with %v, want %v", err, gone)
		}
	}
	if err := l.Put(queue, transport.Addr{}, src); err != error(gone) {
		t.Errorf("a later put ended with %v, want %v", err, gone)
	}
}

// A rank that was killed has segments that this rank never used. The first use of one ends
// with its death, whether the card and the lane file were mapped before or not, and although
// nobody has announced it.
func TestFirstUseOfASegmentOfADeadRank(t *testing.T) {
	none := segment.ID(testIDs)
	for _, used := range []segment.ID{none, 0, 1} {
		for _, first := range []segment.ID{2, 3} {
			t.Run(fmt.Sprintf("%d after %d", first, used), func(t *testing.T) {
				tr, children := processes(t, 2, "keeper")
				children[1].hear(t)
				l := link(t, tr, 1)
				if _, err := l.cardOfPeer(); err != nil {
					t.Fatal(err)
				}
				if used != none {
					if _, _, err := l.Size(used); err != nil {
						t.Fatal(err)
					}
				}
				children[1].end()
				var dead *base.RankError
				if _, _, err := l.Size(first); !errors.As(err, &dead) || dead.Rank != 1 {
					t.Errorf("size: %v, want a RankError about rank 1", err)
				}
				gone := &base.RankError{Rank: 1, Reason: "killed by signal 9"}
				tr.Lose(gone)
				if err := l.Put(queue, transport.Addr{Segment: first}, local(t, make([]byte, 8))); err != error(gone) {
					t.Errorf("put when the death was announced: %v, want %v", err, gone)
				}
			})
		}
	}
}

const (
	checks     = 300
	checkBytes = 3*bounceBytes + 40
)

// checkerRole is one side of an exchange: in every round each rank writes a
// pattern of the round into every other's bound segment, a part of its own for
// each writer and one for each of its goroutines, and looks at what it got. All
// directions are busy at once.
func checkerRole(t *testing.T, tr *Transport, in *bufio.Reader) {
	const tasks = 2
	n := tr.size
	parts := n * tasks
	mem := make([]byte, parts*checkBytes)
	s, err := segment.BindShared(mem, uint32(2*parts), waiting())
	if err != nil {
		t.Fatal(err)
	}
	expose(t, tr, 0, s)
	if tr.rank != 0 {
		fmt.Println("ready")
		in.ReadString('\n') // all others are
	}
	var all sync.WaitGroup
	for peer := range base.Rank(n) {
		if peer == tr.rank {
			continue
		}
		for task := range tasks {
			all.Go(func() {
				c := conversation{
					l: link(t, tr, peer), array: s.Notifications(), parts: parts,
					out: int(tr.rank)*tasks + task, in: int(peer)*tasks + task,
				}
				if err := c.run(t.Context(), mem); err != nil {
					t.Errorf("rank %d with rank %d, task %d: %v", tr.rank, peer, task, err)
				}
			})
		}
	}
	all.Wait()
	if tr.rank != 0 {
		// Others may still read here.
		fmt.Println("done")
		in.ReadString('\n')
	}
}

// A conversation is one goroutine's part of the exchange with one peer.
type conversation struct {
	l       *peerLink
	array   *notify.Array
	parts   int
	out, in int // the part that is written at the peer, and the one that the peer writes here
}

func (c conversation) run(ctx context.Context, mem []byte) error {
	data := make([]byte, checkBytes)
	own, err := segment.Bind(data, 1, waiting())
	if err != nil {
		return err
	}
	dst := transport.Addr{Offset: uint64(c.out * checkBytes)}
	mine := mem[c.in*checkBytes:][:checkBytes]
	for round := notify.Value(1); round <= checks; round++ {
		// Bytes that are alike in all chunks, and differ from round to round.
		for i := range data {
			data[i] = byte(round)
		}
		if err := c.l.PutNotify(queue, dst, own.All(), transport.Flag{ID: notify.ID(c.out), Value: round}); err != nil {
			return err
		}
		if _, err := c.array.Wait(ctx, notify.Until(notify.ID(c.in), notify.Equal, round), nil, nil); err != nil {
			return err
		}
		if !bytes.Equal(mine, data) {
			return fmt.Errorf("round %d: the flag is there, its bytes are not", round)
		}
		// The peer may write the next round when this side has looked.
		if err := c.l.Notify(queue, transport.Flag{ID: notify.ID(c.parts + c.out), Value: round}); err != nil {
			return err
		}
		if _, err := c.array.Wait(ctx, notify.Until(notify.ID(c.parts+c.in), notify.Equal, round), nil, nil); err != nil {
			return err
		}
		if round%10 != 0 {
			continue
		}
		// The bytes that were written last come back. The peer has not been told to go on with
		// a part that only this side writes.
		clear(data)
		if err := c.l.Get(queue, own.All(), dst); err != nil {
			return err
		}
		if data[0] != byte(round) || data[len(data)-1] != byte(round) {
			return fmt.Errorf("round %d: got %d ... %d back", round, data[0], data[len(data)-1])
		}
	}
	return nil
}

func TestBoundSegmentsInAllDirections(t *testing.T) {
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			tr, children := processes(t, n, "checker")
			for _, c := range children[1:] {
				c.hear(t)
			}
			// Rank 0 exposes its segment in its role, so peers that are quicker
			// must not ask for it yet: they are let go when it has.
			ready := make(chan struct{})
			go func() {
				defer close(ready)
				for exposedOf(tr, 0) == nil {
					runtime.Gosched()
				}
				for _, c := range children[1:] {
					c.say("go")
				}
			}()
			checkerRole(t, tr, nil)
			<-ready
			for _, c := range children[1:] {
				c.hear(t)
			}
			for r, c := range children[1:] {
				c.in.Close()
				io.Copy(io.Discard, c.out)
				if err := c.cmd.Wait(); err != nil {
					t.Errorf("rank %d: %v", r+1, err)
				}
			}
		})
	}
}

// exposedOf is the segment exposed under id, nil if there is none that all ranks
// may use.
func exposedOf(t *Transport, id segment.ID) *segment.Segment {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r := range t.size {
		if !t.own.read(id, base.Rank(r)).granted {
			return nil
		}
	}
	return t.exposed[id]
}
