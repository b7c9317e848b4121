package rdma

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// These bytes are what ranks of other builds read.
func TestMessageOnTheWire(t *testing.T) {
	m := message{
		secret: 0x0102030405060708, kind: kindAttached, code: 9, pages: 0x0a0b, from: 3, number: 0x11121314, segment: 5,
		generation: 6, a: 0xa1, b: 0xb1, c: 0xc1, d: 0xd1d2d3d4d5d6d7d8,
	}
	const want = "0807060504030201" + "02090b0a" + "03000000" + "14131211" + "05000000" + "0600000000000000" +
		"a100000000000000" + "b100000000000000" + "c100000000000000" + "d8d7d6d5d4d3d2d1"
	var raw [messageSize]byte
	m.put(&raw)
	if diff := cmp.Diff(want, hex.EncodeToString(raw[:])); diff != "" {
		t.Error(diff)
	}
	var back message
	if err := back.parse(&raw, m.secret, 4); err != nil || back != m {
		t.Errorf("%+v, %v", back, err)
	}
	if err := back.parse(&raw, m.secret+1, 4); !errors.Is(err, errBadSecret) {
		t.Errorf("%v, want that it is a stranger's", err)
	}
	if back.parse(&raw, m.secret, 3) == nil {
		t.Error("a message of a rank that does not exist was read")
	}
	for _, k := range []byte{0, byte(kindLast) + 1, 255} {
		raw[8] = k
		if back.parse(&raw, m.secret, 4) == nil {
			t.Errorf("a message of kind %d was read", k)
		}
	}
}

func TestNotificationsAsData(t *testing.T) {
	for _, c := range []struct {
		bits   int
		number uint64
		flag   transport.Flag
		fits   bool
	}{
		{64, 0, transport.Flag{Value: 1}, true},
		{64, 1<<31 - 1, transport.Flag{Value: math.MaxUint32, Add: true}, true},
		{64, 1 << 31, transport.Flag{Value: 1}, false},
		{32, 1<<17 - 1, transport.Flag{Value: 1<<14 - 1, Add: true}, true},
		{32, 5, transport.Flag{Value: 1 << 14}, false},
		{32, 1 << 17, transport.Flag{Value: 1}, false},
		{0, 0, transport.Flag{Value: 1}, false},
	} {
		k := codingFor(c.bits)
		data, fits := k.pack(c.number, c.flag)
		if fits != c.fits {
			t.Errorf("%d bits, flag %d, %+v: fits %v", c.bits, c.number, c.flag, fits)
			continue
		}
		if !fits {
			continue
		}
		if c.bits < 64 && data>>c.bits != 0 {
			t.Errorf("%d bits, flag %d, %+v: %#x", c.bits, c.number, c.flag, data)
		}
		if number, value, add := k.unpack(data); number != c.number || value != c.flag.Value || add != c.flag.Add {
			t.Errorf("%d bits, flag %d, %+v: came back as %d, %d, %v", c.bits, c.number, c.flag, number, value, add)
		}
	}
}

// Flags are handed out while there are any, and again once they have come back.
func TestFlagSpace(t *testing.T) {
	s := flagSpace{coding: codingFor(32)}
	array := notify.NewArray(make([]byte, notify.Bytes(65536)), 65536, nil)
	var all []*region
	for range 10 {
		x := &region{Notifications: array}
		s.take(x)
		all = append(all, x)
	}
	for i, x := range all {
		want := 16 // an eighth of 128
		if i >= 8 {
			want = 0
		}
		if x.State.flagPages != want || want > 0 && x.State.flagFirst != i*16*flagPage {
			t.Errorf("the %d.: %d pages from %d", i, x.State.flagPages, x.State.flagFirst)
		}
	}
	s.free(all[3])
	x := &region{Notifications: array}
	if s.take(x); x.State.flagFirst != 3*16*flagPage || x.State.flagPages != 16 {
		t.Errorf("%d pages from %d, want those that came back", x.State.flagPages, x.State.flagFirst)
	}
	s.free(all[5])
	for _, number := range []uint64{5 * 16 * flagPage, 6*16*flagPage - 1} {
		if s.post(number<<14|1) == nil {
			t.Errorf("flag %d means something", number)
		}
	}
	if s.post(4*16*flagPage<<14) == nil {
		t.Error("the value 0 was posted")
	}
}

func TestChoose(t *testing.T) {
	good := traits{provider: "p", transfer: 1 << 30, inFlight: 8, orderedWrites: 1 << 23, sendAfterWrite: true, dataBits: 64}
	for _, c := range []struct {
		name   string
		change func(*traits)
		weak   bool
		piece  uint64
		reason string
	}{
		{"good", func(*traits) {}, false, 1 << 23, "with it, as remote completion data; it stays behind"},
		{"4 bytes of data", func(t *traits) { t.dataBits = 32 }, false, 1 << 23, "larger values as a message"},
		{"no data", func(t *traits) { t.dataBits = 0 }, false, 1 << 23, "travels as a message behind it"},
		{"no order", func(t *traits) { t.orderedWrites = 0 }, true, 1 << 30, "confirmed them: the provider promises no order between writes"},
		{"hardly any order", func(t *traits) { t.orderedWrites = 100 }, true, 1 << 30, "no order between writes above 100 bytes"},
		{"messages overtake", func(t *traits) { t.sendAfterWrite = false }, true, 1 << 30, "between writes and messages"},
	} {
		p := good
		c.change(&p)
		got, err := choose(p)
		if err != nil || got.weak != c.weak || got.piece != c.piece || !strings.Contains(got.reason, c.reason) {
			t.Errorf("%s: weak %v, pieces of %d, %q, %v", c.name, got.weak, got.piece, got.reason, err)
		}
	}
	if _, err := choose(traits{provider: "p"}); !errors.Is(err, base.ErrNotSupported) {
		t.Errorf("a provider that moves nothing: %v, want ErrNotSupported", err)
	}
}

func TestAddress(t *testing.T) {
	a := address{provider: "verbs;ofi_rxm", secret: 0xab, name: []byte{1, 2, 255}}
	back, err := parseAddress(a.String())
	if diff := cmp.Diff(a, back, cmp.AllowUnexported(address{})); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, text := range []string{"", "a/b", "p/xyz/01", "p/01/xyz", "p/01/", "p/01/02/03"} {
		if _, err := parseAddress(text); err == nil {
			t.Errorf("%q is an address", text)
		}
	}
}

// Messages from the network may be anything: each is answered, dropped or obeyed, and never
// reaches memory that is not there.
func FuzzHear(f *testing.F) {
	for k := messageKind(0); k <= kindLast+1; k++ {
		m := message{kind: k, from: 1, segment: 1, generation: 1, a: 1 << 40, c: 8}
		var raw [messageSize]byte
		m.put(&raw)
		f.Add(raw[8:])
	}
	f.Fuzz(func(t *testing.T, tail []byte) {
		net := newMemoryNet(t, func(n *memoryNet) { n.lies = true })
		ranks := joinOver(t, 2, func() fabric { return net.open() })
		s := exposed(t, ranks[0], 1, 64)
		var raw [messageSize]byte
		copy(raw[8:], tail)
		ranks[0].lock()
		binary.LittleEndian.PutUint64(raw[:], ranks[0].secret)
		_ = ranks[0].handleMessageLocked(&raw)
		_ = ranks[0].flags.post(binary.LittleEndian.Uint64(raw[8:]))
		ranks[0].unlock()
		if before := s.All().Bytes(); raw[8] != byte(kindAtomic) && !bytes.Equal(before, make([]byte, 64)) {
			t.Error("something was written")
		}
	})
}
