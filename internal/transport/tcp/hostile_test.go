package tcp

import (
	"bytes"
	"encoding/binary"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A peer that holds the key and sends what it should not.

// intruder connects to rank 0 as rank 1, which is nobody else.
func intruder(t testing.TB, tr *Transport) net.Conn {
	t.Helper()
	c := letIn(t, tr, 1)
	ok(t, sendReady(c))
	ok(t, c.SetDeadline(time.Now().Add(generous)))
	return c
}

// letIn returns a connection with tr whose handshake rank from has made.
func letIn(t testing.TB, tr *Transport, from base.Rank) net.Conn {
	t.Helper()
	raw, err := net.Dial("tcp", tr.Address())
	ok(t, err)
	t.Cleanup(func() { raw.Close() })
	c, err := auth.Client(raw, tr.cfg.Credentials, auth.Hello{
		Role: auth.RoleLane, Job: tr.cfg.Job, From: int32(from), To: int32(tr.cfg.Rank), Lane: 0, Version: Version,
	}, tr.secure)
	ok(t, err)
	return c
}

// encoded is f as bytes, with what follows.
func encoded(f frame, payload ...byte) []byte {
	var h [headSize]byte
	f.put(&h)
	return append(h[:], payload...)
}

// setByte is b with another byte at i.
func setByte(b []byte, i int, to byte) []byte {
	b[i] = to
	return b
}

func note(id notify.ID, v notify.Value, seg uint32, generation uint64) (a, b, c uint64) {
	var f frame
	f.setFlag(transport.Flag{ID: id, Value: v, Segment: segment.ID(seg)}, generation)
	return f.a, f.b, f.c
}

func TestMalformedFramesCloseTheConnection(t *testing.T) {
	const size, top = 64, math.MaxUint64
	put := frame{kind: kindPut, length: 8, segment: 1, generation: 1}
	with := func(f frame, change func(f *frame)) frame { change(&f); return f }
	noted := func(id notify.ID, v notify.Value) frame {
		return with(put, func(f *frame) { f.flags = flagNote; f.a, f.b, f.c = note(id, v, 1, 1) })
	}
	for _, c := range []struct {
		name string
		send []byte
		want string
	}{
		{"no frame", bytes.Repeat([]byte{0}, headSize), "malformed"},
		{"another protocol", []byte("GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: something longer\r\n\r\n"), "malformed"},
		{"no mark", setByte(encoded(put, 1, 2, 3, 4, 5, 6, 7, 8), 3, 'g'), "malformed"},
		{"kind 0", encoded(with(put, func(f *frame) { f.kind = 0 })), "malformed"},
		{"kind behind the last", encoded(with(put, func(f *frame) { f.kind = kindEnd })), "malformed"},
		{"flags that do not exist", encoded(with(put, func(f *frame) { f.flags = 0x80 })), "malformed"},
		{"a request that asks to be acknowledged", encoded(frame{kind: kindFlush, flags: flagAck}), "malformed"},
		{"a flag of another kind", encoded(with(put, func(f *frame) { f.flags = flagLast })), "malformed"},
		{"a byte that means nothing", setByte(encoded(put), 20, 1), "malformed"},
		{"a field that means nothing", encoded(with(put, func(f *frame) { f.a = 1 })), "malformed"},
		{"a put that is too long", encoded(with(put, func(f *frame) { f.length = lengthMost + 1 })), "malformed"},
		{"a put of all there is", encoded(with(put, func(f *frame) { f.length = top })), "malformed"},
		{"a put behind the end", encoded(with(put, func(f *frame) { f.offset = size - 7 })), "leaves the segment"},
		{"a put from behind the end", encoded(with(put, func(f *frame) { f.offset = size + 1 })), "leaves the segment"},
		{"a put whose sum overflows", encoded(with(put, func(f *frame) { f.offset = top - 7 })), "leaves the segment"},
		{"a notification behind the end", encoded(noted(16, 1)), "notification does not exist"},
		{"the largest notification", encoded(noted(math.MaxUint32, 1)), "notification does not exist"},
		{"the value 0", encoded(with(noted(1, 1), func(f *frame) { f.a = 1 })), "malformed"},
		{"notify behind the end", encoded(with(noted(16, 1), func(f *frame) { f.kind, f.length, f.segment, f.generation = kindNotify, 0, 0, 0 })), "notification does not exist"},
		{"a get behind the end", encoded(frame{kind: kindGet, length: 8, segment: 1, generation: 1, offset: size - 7}), "leaves the segment"},
		{"a get whose sum overflows", encoded(frame{kind: kindGet, length: 8, segment: 1, generation: 1, offset: top - 7}), "leaves the segment"},
		{"a get of nothing", encoded(frame{kind: kindGet, segment: 1, generation: 1}), "malformed"},
		{"an atomic behind the end", encoded(frame{kind: kindAtomic, segment: 1, generation: 1, offset: size}), "leaves the segment"},
		{"an atomic that is not aligned", encoded(frame{kind: kindAtomic, segment: 1, generation: 1, offset: 4}), "malformed"},
		{"an atomic that does not exist", encoded(frame{kind: kindAtomic, code: 8, segment: 1, generation: 1}), "malformed"},
		{"data without a request", encoded(frame{kind: kindData, flags: flagLast, length: 8}, 1, 2, 3, 4, 5, 6, 7, 8), "belongs to no request"},
		{"a result without a request", encoded(frame{kind: kindResult, number: 7}), "belongs to no request"},
		{"a descriptor without a request", encoded(frame{kind: kindAttached, generation: 1, offset: 8, segment: 1}), "belongs to no request"},
		{"a refusal without a request", encoded(frame{kind: kindRefused, code: 1, segment: 1}), "belongs to no request"},
		{"ready again", encoded(frame{kind: kindReady}), errReady.Error()},
		{"ready with a number", encoded(frame{kind: kindReady, number: 1}), "malformed"},
		{"a refusal without a reason", encoded(frame{kind: kindRefused}), "malformed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lost losses
			ranks := join(t, 2, func(_ base.Rank, cfg *Config) { cfg.Lost = lost.note })
			s := exposed(t, ranks[0], 1, size)
			conn := intruder(t, ranks[0])
			_, err := conn.Write(encoded(with(put, func(f *frame) { f.length = 2 }), 7, 8)) // what it may send
			ok(t, err)
			_, err = conn.Write(c.send)
			ok(t, err)
			if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Fatalf("%d bytes and %v instead of the end of the connection", n, err)
			}
			testenv.Eventually(t, "the rank is lost", func() bool { return lost.count() == 1 })
			if why := lost.all[0]; why.Rank != 1 || !strings.Contains(why.Reason, c.want) {
				t.Errorf("%v; want rank 1 and %q", why, c.want)
			}
			want := make([]byte, size)
			want[0], want[1] = 7, 8
			if !bytes.Equal(s.All().Bytes(), want) {
				t.Errorf("memory was written: %v", s.All().Bytes())
			}
			if _, set, _ := s.Notifications().Try(notify.Some(0, 16)); set {
				t.Error("a notification was posted")
			}
		})
	}
}

// Frames that are right but for a segment that the peer may not use.
func TestForeignSegmentsAreRefused(t *testing.T) {
	a, b, c := note(1, 1, 1, 1)
	for _, x := range []struct {
		name   string
		send   []byte
		posted uint8
	}{
		{"put", encoded(frame{kind: kindPut, length: 2, segment: 1, generation: 1}, 7, 8), flagPosted},
		{"put_notify", encoded(frame{kind: kindPut, flags: flagNote, length: 2, segment: 1, generation: 1, a: a, b: b, c: c}, 7, 8), flagPosted},
		{"notify", encoded(frame{kind: kindNotify, flags: flagNote, a: a, b: b, c: c}), flagPosted},
		{"get", encoded(frame{kind: kindGet, length: 8, segment: 1, generation: 1}), 0},
		{"atomic", encoded(frame{kind: kindAtomic, segment: 1, generation: 1, a: 5}), 0},
		{"attach", encoded(frame{kind: kindAttach, segment: 1}), 0},
		{"a segment id behind the end", encoded(frame{kind: kindPut, length: 2, segment: math.MaxUint32, generation: 1}, 7, 8), flagPosted},
	} {
		t.Run(x.name, func(t *testing.T) {
			ranks := join(t, 2, nil)
			s, err := segment.New(64, 16, polling())
			ok(t, err)
			ok(t, ranks[0].Expose(1, s)) // granted to nobody
			conn := intruder(t, ranks[0])
			_, err = conn.Write(x.send)
			ok(t, err)
			var h [headSize]byte
			_, err = io.ReadFull(conn, h[:])
			ok(t, err)
			f, err := parse(&h)
			ok(t, err)
			if f.kind != kindRefused || f.flags != x.posted || remote.Refusal(f.code) != remote.RefusedSegment {
				t.Errorf("answer %+v, want a refusal", f)
			}
			if !bytes.Equal(s.All().Bytes(), make([]byte, 64)) || s.Notifications().Load(1) != 0 {
				t.Error("a segment that was not granted was written")
			}
		})
	}
}

// A reply with a segment that cannot exist ends the connection, and so the request.
func TestReplyForASegmentThatCannotExist(t *testing.T) {
	ranks := join(t, 2, nil)
	conn := intruder(t, ranks[0])
	l := linkTo(t, ranks[0], 1)
	ended := make(chan error, 1)
	go func() {
		_, _, err := l.Size(1)
		ended <- err
	}()
	var h [headSize]byte
	_, err := io.ReadFull(conn, h[:])
	ok(t, err)
	request, err := parse(&h)
	ok(t, err)
	_, err = conn.Write(encoded(frame{kind: kindAttached, number: request.number, segment: math.MaxUint32, generation: 1, offset: 8}))
	ok(t, err)
	select {
	case err := <-ended:
		isGone(t, "size", err, 1)
	case <-testenv.Context(t).Done():
		t.Fatal("the request has no end")
	}
}

// A peer that sends requests and reads no reply.
func TestRepliesThatAreNotRead(t *testing.T) {
	var lost losses
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) { cfg.Lost = lost.note })
	exposed(t, ranks[0], 1, 1<<20)
	conn := intruder(t, ranks[0])
	get := encoded(frame{kind: kindGet, length: 1 << 20, segment: 1, generation: 1})
	for lost.count() == 0 {
		if _, err := conn.Write(bytes.Repeat(get, 64)); err != nil {
			break
		}
	}
	testenv.Eventually(t, "the rank is lost", func() bool { return lost.count() == 1 })
	if why := lost.all[0]; !strings.Contains(why.Reason, errTooManyReplies.Error()) && !strings.Contains(why.Reason, "reset") {
		t.Errorf("%v; want %v", why, errTooManyReplies)
	}
}

// Bytes one at a time are the same frames.
func TestFramesInPieces(t *testing.T) {
	ranks := join(t, 2, nil)
	s := exposed(t, ranks[0], 1, 64)
	conn := intruder(t, ranks[0])
	a, b, c := note(3, 9, 1, 1)
	var all []byte
	for i := range uint64(4) {
		all = append(all, encoded(frame{kind: kindPut, flags: flagNote | flagAdd, length: 8, segment: 1, generation: 1, offset: 8 * i, a: a, b: b, c: c}, 1, 2, 3, 4, 5, 6, 7, byte(i))...)
	}
	for _, x := range all {
		_, err := conn.Write([]byte{x})
		ok(t, err)
	}
	if _, err := s.Notifications().Wait(testenv.Context(t), notify.Until(3, notify.Equal, 36), nil, nil); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(4) {
		if got := binary.BigEndian.Uint64(s.All().Bytes()[8*i:]); got != 0x0102030405060700+i {
			t.Errorf("word %d is %#x", i, got)
		}
	}
}
