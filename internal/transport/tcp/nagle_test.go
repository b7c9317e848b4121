package tcp

import (
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A poster is a rank that posts on lane 0 of another one, where a segment counts what arrives.
type poster struct {
	t    *testing.T
	from *Transport
	c    *conn // its side
	q    *transport.Queue
	sent uint64 // segments of the connection when the poster was made
	read func() // lets the peer read
	got  func() notify.Value
}

func newPoster(t *testing.T) *poster {
	ranks := join(t, 2, nil)
	s := exposed(t, ranks[1], 1, 64<<10)
	p := &poster{t: t, from: ranks[0], q: queueOn(0)}
	p.post(1)
	awaitNote(t, s, 0)
	p.c = ranks[0].conns[ranks[0].cfg.Connections].Load()
	p.read = stall(t, ranks[1], 0, 0)
	p.from.Poll()
	p.sent = p.segments()
	p.got = func() notify.Value { return s.Notifications().Load(0) }
	return p
}

// post posts n notifications, each of which adds 1.
func (p *poster) post(n int) {
	p.t.Helper()
	for range n {
		ok(p.t, linkTo(p.t, p.from, 1).Notify(p.q, transport.Flag{Segment: 1, Value: 1, Add: true}))
	}
}

func (p *poster) segments() uint64 {
	p.t.Helper()
	m, err := p.c.measure()
	ok(p.t, err)
	return m.Segments - p.sent
}

func (p *poster) gathers() bool {
	o := &p.c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gather.on
}

// Goal: messages that are posted in a row travel together, as long as the peer does not read, and all
// arrive though the poster makes no further call.
func TestMessagesInARowTravelTogether(t *testing.T) {
	p := newPoster(t)
	const posts = 200
	p.post(posts)
	if got := p.segments(); got < aloneMost || got > posts/10 {
		t.Errorf("%d messages take %d segments, want %d at most", posts, got, posts/10)
	}
	p.read()
	testenv.Eventually(t, "all messages arrive", func() bool { return p.got() == posts })
}

// Goal: few messages in a row travel each by itself, and a look at what peers have sent begins anew.
func TestFewMessagesTravelAtOnce(t *testing.T) {
	p := newPoster(t)
	p.post(aloneMost)
	p.from.Poll()
	p.post(aloneMost)
	if p.gathers() {
		t.Error("messages are gathered")
	}
	testenv.Eventually(t, "each has a segment", func() bool { return p.segments() >= 2*aloneMost }) // the system may pace them
}

// Goal: what was gathered is sent by a look, by a request and by a long message.
func TestGatheredMessagesAreSent(t *testing.T) {
	for name, send := range map[string]func(p *poster){
		"a look":         func(p *poster) { p.from.Poll() },
		"a request":      func(p *poster) { p.c.sendControl(&frame{kind: kindWithdrawn, segment: 9, generation: 9}) },
		"a long message": func(p *poster) { p.put(p.c.out.gather.most+1, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPoster(t)
			p.post(20)
			before := p.segments()
			if !p.gathers() {
				t.Error("nothing is gathered")
			}
			if send(p); p.gathers() {
				t.Error("later messages are gathered")
			}
			testenv.Eventually(t, "they are sent", func() bool { return p.segments() > before })
			p.post(1)
			p.read()
			testenv.Eventually(t, "all messages arrive", func() bool { return p.got() == 21 })
		})
	}
}

// Goal: the longest payload that is sent with others depends on the network and on the cores.
func TestLongestGathered(t *testing.T) {
	for _, c := range []struct {
		near  bool
		spin  time.Duration
		least uint64
	}{{false, 0, 8 << 10}, {false, 1, 8 << 10}, {true, 0, 16 << 10}, {true, 1, 32 << 10}} {
		tr := &Transport{cfg: Config{WaitPolicy: &notify.WaitPolicy{Spin: c.spin}}}
		if got := tr.gatheredMost(c.near); got < c.least || got >= 2*c.least {
			t.Errorf("near %v, spin %v: up to %d bytes are gathered, want %d and less than twice that", c.near, c.spin, got, c.least)
		}
	}
	p := newPoster(t)
	if p.put(gatherNear, 2*aloneMost); !p.gathers() {
		t.Error("messages between ranks of one host that share cores are not gathered")
	}
}

// put puts n bytes, so many times.
func (p *poster) put(n uint64, times int) {
	s := exposed(p.t, p.from, 2, n)
	for range times {
		ok(p.t, linkTo(p.t, p.from, 1).Put(p.q, transport.Addr{Segment: 1}, spanOf(p.t, s, 0, n)))
	}
}

// Goal: a reader has its system acknowledge at once what asks for it: a header, and each part of
// its payload, but no other frame.
func TestReaderAcknowledgesWhatAsks(t *testing.T) {
	p := newPoster(t)
	c := &conn{t: p.from, link: linkTo(t, p.from, 1), fd: -1}
	c.out.init(c)
	feed := func(b []byte) bool {
		t.Helper()
		c.in.mu.Lock()
		defer c.in.mu.Unlock()
		c.in.urgent = false
		ok(t, c.feed(b))
		return c.in.urgent
	}
	head := func(flags uint8) []byte {
		var h [headSize]byte
		(&frame{kind: kindPut, flags: flags, length: 2, segment: 7, generation: 1}).put(&h)
		return h[:]
	}
	for _, x := range []struct {
		name  string
		bytes []byte
		want  bool
	}{
		{"a header", head(flagAck), true},
		{"a part of its payload", []byte{1}, true},
		{"the end of its payload", []byte{1}, true},
		{"part of a header", head(0)[:30], false},
		{"another header", head(0)[30:], false},
		{"its payload", []byte{1, 2}, false},
	} {
		if got := feed(x.bytes); got != x.want {
			t.Errorf("%s: urgent %v, want %v", x.name, got, x.want)
		}
	}
}
