package rendezvous

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// An open rendezvous is node 0 of a job, which gathers the others.
type open struct {
	*Nodes
	meeting Meeting
	words   testenv.Lines // sentences for the user, and lines of the log
}

// openAt begins a rendezvous of a number of nodes on the loopback interface. change may alter the meeting.
func openAt(t *testing.T, count int, change func(*Meeting)) *open {
	t.Helper()
	o := &open{meeting: Meeting{
		Count: count, Address: testenv.FreeAddress(t), Key: auth.NewKey(), Limit: testenv.Limit(t),
		Transport: "tcp", Ranks: 2, MaxRanks: 6,
	}}
	o.meeting.Notice, o.meeting.Log = o.words.Add, o.words.Add
	if change != nil {
		change(&o.meeting)
	}
	var err error
	if o.Nodes, err = Open(t.Context(), o.meeting); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// gather begins to wait for the other nodes. The channel gets what has come of it.
func (o *open) gather(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() { done <- o.Gather(ctx) }()
	return done
}

// attempt tries once to join as a node.
func (o *open) attempt(number int, key auth.Key) (net.Conn, error) {
	conn, _, err := agent.NodeContact(key.JobID(), o.meeting.Address, number, key).Attempt(nil)
	return conn, err
}

// joined waits until a node has the number, and returns it.
func (o *open) joined(t *testing.T, number int32) (r *recruit) {
	t.Helper()
	testenv.Eventually(t, "a node has joined", func() bool {
		o.Nodes.mu.Lock()
		defer o.Nodes.mu.Unlock()
		r = o.taken[number]
		return r != nil
	})
	return r
}

// isTaken has a node come that is refused, since another one has its number.
func (o *open) isTaken(t *testing.T, number int) {
	t.Helper()
	if _, err := o.attempt(number, o.meeting.Key); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), "has joined already, from 127.0.0.1:") {
		t.Errorf("%v, want that node %d has joined already", err, number)
	}
}

// joins returns the connection of a node that has proven the key, and says nothing yet.
func (o *open) joins(t *testing.T, number int) *talk.Conn {
	t.Helper()
	var conn net.Conn
	testenv.EventuallySucceeds(t, func() (err error) { // the same node may have to be forgotten first
		conn, err = o.attempt(number, o.meeting.Key)
		return err
	})
	c := talk.New(conn, o.meeting.Silence)
	t.Cleanup(func() { c.Close() })
	return c
}

// enlists has a node join that fits the job.
func (o *open) enlists(t *testing.T, number, ranks int) *talk.Conn {
	t.Helper()
	c := o.joins(t, number)
	agent.Enlist(c, agent.Enlistment{Nodes: o.meeting.Count, Ranks: ranks, Transport: o.meeting.Transport}, nil)
	return c
}

// told waits until a node is told a sentence that has a part.
func told(t *testing.T, c *talk.Conn, part string) {
	t.Helper()
	for {
		f, err := c.Receive()
		if err != nil {
			t.Fatalf("%v before the node was told %q", err, part)
		}
		if strings.Contains(string(f.Data), part) {
			return
		}
	}
}

// TestHellosAreChecked knocks with the key, and as nobody that is expected.
func TestHellosAreChecked(t *testing.T) {
	o := openAt(t, 3, nil)
	key := o.meeting.Key
	right := auth.Hello{Role: auth.RoleAgent, Job: key.JobID(), From: 1, Version: agent.Version}
	for _, c := range []struct {
		name   string
		change func(*auth.Hello)
		want   string
	}{
		{"a rank", func(h *auth.Hello) { h.Role = auth.RoleSession }, "no place for a"},
		{"another version", func(h *auth.Hello) { h.Version++ }, "install the same one on all nodes"},
		{"another job", func(h *auth.Hello) { h.Job = "other" }, "it is of job other; this is job " + key.JobID()},
		{"node 0", func(h *auth.Hello) { h.From = 0 }, "node 0 holds the rendezvous itself"},
		{"one node too many", func(h *auth.Hello) { h.From = 3 }, "with --nnodes 3, so there is no node 3"},
	} {
		h := right
		c.change(&h)
		conn, err := net.Dial("tcp", o.meeting.Address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = auth.Client(conn, auth.Credentials{Key: key}, h, nil)
		conn.Close()
		if !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want a refusal with %q", c.name, err, c.want)
		}
	}
}

// TestAnotherKeyIsNotLetIn: who holds another key learns nothing, and does not keep the right nodes out.
func TestAnotherKeyIsNotLetIn(t *testing.T) {
	o := openAt(t, 2, nil)
	gathered := o.gather(testenv.Context(t))
	if _, err := o.attempt(1, auth.NewKey()); !errors.Is(err, auth.ErrUnproven) {
		t.Errorf("%v, want that node 0 has proven nothing", err)
	}
	o.enlists(t, 1, 3)
	if err := <-gathered; err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "the log has the refusal", func() bool { return o.words.Have("refused a connection") })
	name := o.Places()[1].Name
	want := []hosts.Place{{Name: "this node", Here: true, Ranks: 2}, {Name: name, Number: 1, First: 2, Ranks: 3}}
	if d := cmp.Diff(want, o.Places()); d != "" || !strings.HasPrefix(name, "node 1 (") {
		t.Errorf("places (-want +got):\n%s", d)
	}
	if at, _, _ := net.SplitHostPort(o.At(1).String()); at != "127.0.0.1" || o.Conn(1) == nil || (*Nodes)(nil).Conn(1) != nil {
		t.Errorf("node 1 came by %s over %v", at, o.Conn(1))
	}
}

// TestNodeThatComesTwice: the second one is refused, until the first has left.
func TestNodeThatComesTwice(t *testing.T) {
	o := openAt(t, 3, nil)
	gathered := o.gather(testenv.Context(t))
	first := o.enlists(t, 1, 1)
	testenv.Eventually(t, "node 1 has joined", func() bool { return o.words.Have("has joined: 1 ranks") })
	o.isTaken(t, 1)
	first.Close()
	testenv.Eventually(t, "node 1 has left", func() bool {
		return o.words.Have("has left before the start; waiting for nodes 1 and 2 (2 of 3 are missing)")
	})
	o.enlists(t, 1, 1)
	o.enlists(t, 2, 1)
	if err := <-gathered; err != nil {
		t.Error(err)
	}
}

// TestNodeThatCameAgain keeps its number when the connection ends by which it had come first.
func TestNodeThatCameAgain(t *testing.T) {
	o := openAt(t, 2, nil)
	o.joins(t, 1)
	first := o.joined(t, 1)
	o.forget(first)
	o.joins(t, 1)
	if second := o.joined(t, 1); second == first {
		t.Fatal("the first connection was not forgotten")
	}
	o.forget(first)
	o.isTaken(t, 1)
	if o.admit(&recruit{number: 1}) {
		t.Error("two nodes that came at the same time have one number")
	}
}

// TestNodesThatDiffer are told why, and may come again.
func TestNodesThatDiffer(t *testing.T) {
	o := openAt(t, 3, nil)
	gathered := o.gather(testenv.Context(t))
	o.enlists(t, 2, 1)
	testenv.Eventually(t, "node 2 has joined", func() bool { return o.words.Have("has joined: 1 ranks") })
	for _, c := range []struct {
		name string
		node agent.Enlistment
		want string
	}{
		{"count", agent.Enlistment{Nodes: 5, Ranks: 1, Transport: "tcp"}, "was started with --nnodes 5 and node 0 with --nnodes 3"},
		{"transport", agent.Enlistment{Nodes: 3, Ranks: 1, Transport: "rdma"}, `was started with --transport "rdma" and node 0 with "tcp"`},
		{"no rank", agent.Enlistment{Nodes: 3, Transport: "tcp"}, "has 0 ranks, which makes 3 in all: a job has 1 to 6"},
		{"too many ranks", agent.Enlistment{Nodes: 3, Ranks: 4, Transport: "tcp"}, "has 4 ranks, which makes 7 in all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := o.joins(t, 1)
			agent.Enlist(conn, c.node, nil)
			told(t, conn, c.want)
			if !o.words.Have(c.want) {
				t.Errorf("the user of node 0 does not hear %q", c.want)
			}
		})
	}
	o.enlists(t, 1, 3)
	if err := <-gathered; err != nil {
		t.Fatal(err)
	}
	if at := o.Places(); at[1].First != 2 || at[2].First != 5 {
		t.Errorf("ranks of node 1 begin with %d and of node 2 with %d, want 2 and 5", at[1].First, at[2].First)
	}
}

// TestNodeThatCannotStart ends the wait, and every node hears it.
func TestNodeThatCannotStart(t *testing.T) {
	o := openAt(t, 3, nil)
	gathered := o.gather(testenv.Context(t))
	well := o.enlists(t, 1, 1)
	testenv.Eventually(t, "node 1 has joined", func() bool { return o.words.Have("has joined: 1 ranks") })
	agent.Enlist(o.joins(t, 2), agent.Enlistment{Nodes: 3, Ranks: 1, Transport: "tcp"}, errors.New("no program"))
	if err := <-gathered; err == nil || !strings.Contains(err.Error(), "): no program") {
		t.Errorf("%v, want that node 2 has no program", err)
	}
	told(t, well, "): no program")
}

// TestSilentConnections: neither one that never begins the handshake nor a node that says nothing behind it
// keeps a node outside.
func TestSilentConnections(t *testing.T) {
	o := openAt(t, 2, func(m *Meeting) { m.Silence = time.Second })
	gathered := o.gather(testenv.Context(t))
	stranger, err := net.Dial("tcp", o.meeting.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	silent, err := o.attempt(1, o.meeting.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o.joined(t, 1)
	o.enlists(t, 1, 1)
	if err := <-gathered; err != nil {
		t.Error(err)
	}
}

// TestGatherEnds by its context and its limit: those who have joined hear it, and Close lets nobody in any more.
func TestGatherEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration
		want  string
	}{
		{"cancelled", 0, context.Canceled.Error()},
		{"too late", time.Millisecond, "has not joined within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := openAt(t, 3, func(m *Meeting) { m.Limit = c.limit })
			ctx, cancel := context.WithCancel(testenv.Context(t))
			defer cancel()
			if c.limit > 0 {
				if err := o.Gather(ctx); err == nil || !strings.Contains(err.Error(), "nodes 1 and 2 have not joined within 1 ms (2 of 3 are missing)") {
					t.Error(err)
				}
			} else {
				gathered := o.gather(ctx)
				node := o.enlists(t, 1, 1)
				testenv.Eventually(t, "node 1 has joined", func() bool { return o.words.Have("has joined: 1 ranks") })
				cancel()
				if err := <-gathered; !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want that the wait was cancelled", err)
				}
				told(t, node, c.want)
			}
			o.Close()
			if conn, err := net.Dial("tcp", o.meeting.Address); err == nil {
				conn.Close()
				t.Error("somebody was let in after Close")
			}
		})
	}
}

// TestDecline tells each node, as it comes, why the job does not run.
func TestDecline(t *testing.T) {
	o := openAt(t, 3, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.Decline(testenv.Context(t), errors.New("no program"))
	}()
	for number := 1; number <= 2; number++ {
		told(t, o.enlists(t, number, 1), ": no program")
	}
	<-done
	if !o.words.Have("no program; waiting for nodes 1 and 2 (2 of 3 are missing), to tell that") || o.words.Have("not all nodes were told") {
		t.Errorf("%q", &o.words)
	}
}

// TestOpenWhereSomebodyListens says what to do.
func TestOpenWhereSomebodyListens(t *testing.T) {
	o := openAt(t, 2, nil)
	if _, err := Open(t.Context(), o.meeting); err == nil || !strings.Contains(err.Error(), "choose another port with --rendezvous, on all nodes") {
		t.Errorf("%v, want that the port is taken", err)
	}
}

// TestJoin: a node that is refused ends, others go on trying until their limit or their context ends.
func TestJoin(t *testing.T) {
	for _, secure := range []bool{false, true} {
		o := openAt(t, 2, func(m *Meeting) { m.TLS = secure })
		node := o.meeting
		node.Number = 5
		if _, err := Join(testenv.Context(t), node); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), "there is no node 5") {
			t.Errorf("%v, want that there is no node 5", err)
		}
		node.Number = 1
		conn, err := Join(testenv.Context(t), node)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	o := openAt(t, 2, nil)
	stranger := o.meeting
	stranger.Number, stranger.Key = 1, auth.NewKey()
	ctx, cancel := context.WithCancel(testenv.Context(t))
	stranger.Notice = func(sentence string) {
		o.words.Add(sentence)
		cancel()
	}
	if _, err := Join(ctx, stranger); !errors.Is(err, context.Canceled) || !o.words.Have("there is not node 0 of this job") {
		t.Errorf("%v, want that it tries on; it said %q", err, &o.words)
	}
	stranger.Limit, stranger.Address = time.Millisecond, testenv.FreeAddress(t)
	if _, err := Join(testenv.Context(t), stranger); err == nil || !strings.Contains(err.Error(), "no node 0 at "+stranger.Address+" after 1 ms") {
		t.Errorf("%v, want that there is no node 0", err)
	}
}
