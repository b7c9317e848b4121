// Package rendezvous is where the nodes of a job meet that are started one by one: node 0 listens, and the others
// join it. It knows how many ranks each node has, and no rank.
package rendezvous

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/signals"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// A Meeting says which nodes meet, and where.
type Meeting struct {
	Count     int           // nodes
	Number    int           // which of them this is
	Address   string        // where node 0 is reached, as host:port
	Key       auth.Key      // of the job
	Limit     time.Duration // how long nodes wait for each other; not positive: for ever
	TLS       bool
	Silence   time.Duration // how long a connection may be silent; 0 for ever
	Interface string        // as of launcher.Config
	Transport string        // likewise; the same on all nodes
	Ranks     int           // of this node
	MaxRanks  int           // of all

	Notice func(sentence string) // tells the user
	Log    func(line string)
	Caught *signals.Caught // a signal may end the wait
}

// Nodes are the other nodes of a job, as node 0 meets them: it listens at the rendezvous until the
// job is over. It refuses a peer that does not hold the key of the job.
type Nodes struct {
	meeting Meeting
	gate    *auth.Gate
	events  chan recruitEvent
	over    chan struct{} // closed when nobody listens to events any more

	mu      sync.Mutex
	taken   map[int32]*recruit // guarded by mu; the node that has joined, by its number
	refused string             // guarded by mu; the last connection that was not let in
	found   bool               // guarded by mu; a node has come

	nodes []*recruit // index is the node; nil for node 0 and those that have not come
}

// A recruit is a node that has joined, before its ranks have numbers.
type recruit struct {
	*agent.NodeConn
	number int
	at     net.Addr // of this host, by which it has come
	from   net.Addr // its own
}

// A recruitEvent says that a node has joined, or, if gone says so, left before the start.
type recruitEvent struct {
	node *recruit
	gone error
}

// String names the node.
func (r *recruit) String() string { return nodeName(r.number, r.Ready().Host) }

func nodeName(number int, host string) string {
	if host == "" {
		return fmt.Sprintf("node %d", number)
	}
	return fmt.Sprintf("node %d (%s)", number, host)
}

// Open listens at the rendezvous, as node 0.
func Open(ctx context.Context, meeting Meeting) (*Nodes, error) {
	m := &Nodes{
		meeting: meeting, events: make(chan recruitEvent), over: make(chan struct{}),
		taken: map[int32]*recruit{}, nodes: make([]*recruit, meeting.Count),
	}
	var secure *tls.Config
	if meeting.TLS {
		var err error
		if secure, _, err = meeting.Key.TLS(meeting.Key.JobID()); err != nil {
			return nil, err
		}
	}
	places, err := boot.ListenAt(ctx, []string{meeting.Address})
	if err != nil {
		return nil, err
	}
	listeners, err := auth.ListenAll(places)
	if err != nil {
		return nil, fmt.Errorf("node 0 holds the rendezvous of the job, and cannot: %w; choose another port with --rendezvous, on all nodes", err)
	}
	m.gate = auth.NewGate(auth.GateConfig{Credentials: auth.Credentials{Key: meeting.Key}, TLS: secure, Check: m.check, Log: m.log})
	m.gate.Open(listeners, m.pass, func(err error) { meeting.Log(err.Error()) })
	return m, nil
}

// log keeps the last refusal, which may be why a node is missing.
func (m *Nodes) log(line string) {
	m.meeting.Log(line)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = line
}

// check refuses who holds the key but is not expected.
func (m *Nodes) check(h auth.Hello) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.taken[h.From]
	switch {
	case h.Role != auth.RoleAgent:
		return fmt.Errorf("this is where nodes meet, and no place for a %s", h.Role)
	case h.Version != agent.Version:
		return fmt.Errorf("gaspi-run of node %d speaks version %d and that of node 0 version %d: install the same one on all nodes", h.From, h.Version, agent.Version)
	case h.Job != m.meeting.Key.JobID():
		return fmt.Errorf("it is of job %s; this is job %s", h.Job, m.meeting.Key.JobID())
	case h.From == 0:
		return errors.New("node 0 holds the rendezvous itself")
	case int(h.From) >= m.meeting.Count:
		return fmt.Errorf("node 0 was started with --nnodes %d, so there is no node %d", m.meeting.Count, h.From)
	case taken != nil:
		return fmt.Errorf("node %d has joined already, from %v: each node needs a --node-rank of its own", h.From, taken.from)
	}
	return nil
}

// pass takes the connection of a node.
func (m *Nodes) pass(conn net.Conn, h auth.Hello) {
	r := &recruit{agent.NewNodeConn(talk.New(conn, m.meeting.Silence)), int(h.From), conn.LocalAddr(), conn.RemoteAddr()}
	if m.admit(r) {
		go m.hear(r)
	} else {
		go r.Close() // two came at the same time
	}
}

// admit notes that a node has joined, unless another one has its number.
func (m *Nodes) admit(r *recruit) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found = true
	if m.taken[int32(r.number)] != nil {
		return false
	}
	m.taken[int32(r.number)] = r
	return true
}

// hear waits for the first word of a node, and for what comes after it: that is the
// job's business, or the end of the node.
func (m *Nodes) hear(r *recruit) {
	err := r.Hear()
	if !m.report(recruitEvent{r, err}) || err != nil {
		return
	}
	if err := r.HearOn(); err != nil {
		m.report(recruitEvent{r, err})
	}
}

func (m *Nodes) report(e recruitEvent) bool {
	select {
	case m.events <- e:
		return true
	case <-m.over:
		return false
	}
}

// Gather waits until all nodes have joined. Its error is told to those that have.
func (m *Nodes) Gather(ctx context.Context) (err error) {
	defer close(m.over)
	defer func() {
		if err != nil {
			m.Dismiss(agent.RefusalOf(err))
		}
	}()
	wait := newPatience(m.meeting.Limit)
	defer wait.stop()
	return m.await(ctx, wait, m.handle)
}

// await has handle take note of who has come or gone until no node is missing, or the time
// is over.
func (m *Nodes) await(ctx context.Context, wait *patience, handle func(recruitEvent) error) error {
	for len(m.missing()) > 0 {
		select {
		case e := <-m.events:
			if err := handle(e); err != nil {
				return err
			}
		case <-wait.word.C:
			m.tell(fmt.Sprintf("waiting for %s for %s%s", m.whoIsMissing(), phrase.Limit(wait.passed()), m.elsewhere(ctx, "; ")))
		case <-wait.over:
			return m.overdue(ctx, wait)
		case <-ctx.Done():
			return ctx.Err()
		case sig := <-m.meeting.Caught.Channel():
			if err := m.meeting.Caught.Early(sig); err != nil {
				return err
			}
		}
	}
	return nil
}

// handle takes note of who has come or gone.
func (m *Nodes) handle(e recruitEvent) error {
	r := e.node
	if e.gone != nil {
		if m.nodes[r.number] == r {
			m.nodes[r.number] = nil
			m.tell(fmt.Sprintf("%v has left before the start; waiting for %s", r, m.whoIsMissing()))
		}
		m.forget(r)
		return nil
	}
	own := r.Ready().Node
	if err := r.Problem(r.String()); err != nil {
		return err
	}
	if err := m.differs(r); err != nil {
		m.meeting.Notice(err.Error())
		r.Dismiss(agent.RefusalOf(err))
		m.forget(r)
		return nil
	}
	m.nodes[r.number] = r
	m.meeting.Log(fmt.Sprintf("%v has joined: %d ranks, process %d, %d cores", r, own.Ranks, r.Ready().PID, r.Ready().Cores))
	return nil
}

// differs says what a node has to be told apart from this one, which it must not be.
func (m *Nodes) differs(r *recruit) error {
	own, ranks := r.Ready().Node, m.meeting.Ranks+r.Ready().Node.Ranks
	for _, other := range m.nodes {
		if other != nil {
			ranks += other.Ready().Node.Ranks
		}
	}
	switch {
	case own.Nodes != m.meeting.Count:
		return fmt.Errorf("%v was started with --nnodes %d and node 0 with --nnodes %d: start all with the same", r, own.Nodes, m.meeting.Count)
	case own.Transport != m.meeting.Transport:
		return fmt.Errorf("%v was started with --transport %q and node 0 with %q: start all with the same", r, own.Transport, m.meeting.Transport)
	case own.Ranks < 1 || ranks > m.meeting.MaxRanks:
		return fmt.Errorf("%v has %d ranks, which makes %d in all: a job has 1 to %d", r, own.Ranks, ranks, m.meeting.MaxRanks)
	}
	return nil
}

// forget lets a node go, so that it may come again.
func (m *Nodes) forget(r *recruit) {
	go r.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken[int32(r.number)] == r { // it may have come again before its first connection has ended
		delete(m.taken, int32(r.number))
	}
}

func (m *Nodes) missing() (list []int) {
	for i, r := range m.nodes {
		if i > 0 && r == nil {
			list = append(list, i)
		}
	}
	return list
}

// whoIsMissing is such as "node 2 (1 of 3 is missing)".
func (m *Nodes) whoIsMissing() string {
	list := m.missing()
	return phrase.Missing(phrase.Named(list, "node", "nodes"), len(list), m.meeting.Count)
}

// elsewhere says, behind a separator, that the rendezvous does not seem to lead to this host, and what to do. It is empty
// if it does, and where somebody has found the way.
func (m *Nodes) elsewhere(ctx context.Context, separator string) string {
	m.mu.Lock()
	found := m.found || m.refused != ""
	m.mu.Unlock()
	if found {
		return ""
	}
	why := boot.Elsewhere(ctx, m.meeting.Address)
	if why == "" {
		return ""
	}
	example := ""
	if own, err := address.Choose(m.meeting.Interface, netip.Addr{}); err == nil && len(own) > 0 {
		_, port, _ := net.SplitHostPort(m.meeting.Address)
		example = ", such as " + net.JoinHostPort(own[0].String(), port)
	}
	return fmt.Sprintf("%sno node has found the way to node 0: %s; --rendezvous expects, on all nodes, HOST:PORT with a name or an address of the host of node 0%s",
		separator, why, example)
}

func (m *Nodes) overdue(ctx context.Context, p *patience) error {
	list := m.missing()
	astray := m.elsewhere(ctx, "")
	m.mu.Lock()
	defer m.mu.Unlock()
	hint := ""
	if m.refused != "" {
		hint = "; " + m.refused
	}
	advice := "each node is started with the same --nnodes, --rendezvous and key, and a longer wait is --join-timeout"
	if astray != "" {
		advice = astray
	}
	absent := fmt.Sprintf("%s %s not joined within %s", phrase.Named(list, "node", "nodes"), phrase.Plural(len(list), "has", "have"), phrase.Limit(p.limit))
	return fmt.Errorf("%s%s: %s", phrase.Missing(absent, len(list), m.meeting.Count), hint, advice)
}

// tell says something to the users of all nodes that have joined.
func (m *Nodes) tell(sentence string) {
	m.meeting.Notice(sentence)
	for _, r := range m.nodes {
		if r != nil {
			r.Tell(sentence)
		}
	}
}

// Dismiss tells all nodes that the job does not run, and lets them go.
func (m *Nodes) Dismiss(v agent.JobEnd) {
	var all sync.WaitGroup
	for _, r := range m.nodes {
		if r != nil {
			r.Dismiss(v)
			all.Go(r.Close)
		}
	}
	all.Wait()
}

// Places returns where the ranks are, node by node.
func (m *Nodes) Places() []hosts.Place {
	out := []hosts.Place{{Name: "this node", Here: true, Ranks: m.meeting.Ranks}}
	first := base.Rank(m.meeting.Ranks)
	for _, r := range m.nodes[1:] {
		out = append(out, hosts.Place{Name: r.String(), Number: r.number, First: first, Ranks: r.Ready().Node.Ranks})
		first += base.Rank(r.Ready().Node.Ranks)
	}
	return out
}

// At returns the address of this host by which a node has come.
func (m *Nodes) At(number int) net.Addr { return m.nodes[number].at }

// Conn returns the connection of a node that has joined. It returns nil for nil.
func (m *Nodes) Conn(number int) *agent.NodeConn {
	if m == nil {
		return nil
	}
	return m.nodes[number].NodeConn
}

// Close lets nobody in any more.
func (m *Nodes) Close() { m.gate.Close() }

// Decline tells each of the other nodes, as it comes, that the job does not run. It tells its user why at once,
// who may end the wait.
func (m *Nodes) Decline(ctx context.Context, why error) {
	defer close(m.over)
	var leaving sync.WaitGroup
	defer leaving.Wait()
	wait := newPatience(m.meeting.Limit)
	defer wait.stop()
	m.meeting.Notice(fmt.Sprintf("%v; waiting for %s, to tell that", why, m.whoIsMissing()))
	end := agent.RefusalOf(AtFirst(why))
	err := m.await(ctx, wait, func(e recruitEvent) error {
		switch r := e.node; {
		case e.gone == nil:
			m.nodes[r.number] = r
			r.Dismiss(end)
			leaving.Go(r.Close)
		case m.nodes[r.number] == nil: // it has left before it was told
			m.forget(r)
		}
		return nil
	})
	if err != nil {
		m.meeting.Log("not all nodes were told: " + err.Error())
	}
}

// AtFirst says that an error is of node 0.
func AtFirst(err error) error {
	name, _ := os.Hostname()
	return fmt.Errorf("%s: %w", nodeName(0, name), err)
}
