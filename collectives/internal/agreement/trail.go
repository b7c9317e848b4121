package agreement

import (
	"context"
	"encoding/binary"

	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

const (
	// TrailPeriod is how many calls a member tells of at a time: so many that the message is cheap
	// beside them.
	TrailPeriod = 64

	trailPeriods = 16       // that a member remembers: a writer may be 256 calls ahead of each of its readers, and these of theirs
	trailSize    = pairSize // a period in memory, with room to spare
	trailHead    = 16
)

// A Trail is what a member has called, by 32 bits of signatures. A member may end calls without
// hearing of anybody. So after a period with such calls it tells the next member of all calls in it,
// which compares them with its own when it has made as many: calls that do not match are found though
// nobody waits for anybody. A period is told when the one before has been read, and is skipped
// otherwise; a digest of all calls before it stands for what was skipped. The next member may have
// made so many more calls that it has forgotten those of the period: it says so, and is told of
// another period, until one has been compared that ends after the last such call.
//
// In memory: | number of the period: 8 bytes | digest before it: 4 | digest behind it: 4 | 64 signatures: 4 each |
type Trail struct {
	calls  uint64
	signs  [trailPeriods * TrailPeriod]uint32 // of the last calls, by their numbers modulo the length
	digest uint32                             // of all calls
	before [trailPeriods]uint32               // digests at the beginnings of the last periods
	alone  uint64                             // calls up to the last that needed nobody

	followed uint64 // periods that Follow has seen the end of
	told     uint32 // how often the next member was told
	offered  uint64 // calls up to the end of the period that it was told of last
	compared uint64 // calls that it has compared
	heard    uint32 // how often the member before has told
}

// Add adds a call, and whether the member may end it without hearing of others.
func (t *Trail) Add(signature uint64, alone bool) {
	if t.calls%TrailPeriod == 0 {
		t.before[t.calls/TrailPeriod%trailPeriods] = t.digest
	}
	sign := Sign(signature)
	t.signs[t.calls%uint64(len(t.signs))] = sign
	t.digest = (t.digest ^ sign) * 16777619 // FNV-1a, by words
	t.calls++
	if alone {
		t.alone = t.calls
	}
}

// Sign is the part of a signature that a trail keeps.
func Sign(signature uint64) uint32 { return uint32(signature ^ signature>>32) }

// Ends reports whether the next call begins a period and there is something to tell of those before,
// or the member before has told something.
func (t *Trail) Ends(m *Mailbox) bool {
	return t.calls%TrailPeriod == 0 && t.calls > 0 && (t.alone > t.compared || t.arrived(m))
}

// A Fork is the first call known in which the trails of two members differ.
type Fork struct {
	Call         uint64
	Member       int    // the other one
	Mine, Theirs uint32 // signs, equal if only calls before it differ
}

// Follow tells the next member of a period that has ended, and compares what the member before has
// told, once for each period; it reports a difference. It blocks while the queue is full, and then
// ends with the error of ctx; the next call goes on.
func (t *Trail) Follow(ctx context.Context, m *Mailbox) (f Fork, differ bool, err error) {
	ended := t.calls / TrailPeriod
	if ended == t.followed || len(m.ranks) == 1 {
		return Fork{}, false, nil
	}
	if t.answered(m) && t.alone > t.compared {
		if err := t.tell(ctx, m, ended-1); err != nil {
			return Fork{}, false, err
		}
	}
	if t.arrived(m) {
		if f, differ, err = t.compare(ctx, m, ended); err != nil || differ {
			return f, differ, err
		}
	}
	t.followed = ended
	return Fork{}, false, nil
}

// arrived reports whether the member before has told something that was not compared.
func (t *Trail) arrived(m *Mailbox) bool {
	return posts.Reached(m.control.Peek(m.lay.trailNote()), posts.Value(t.heard+1))
}

// The n-th answer to the member before is the post 2n of its notification if the period was compared,
// and 2n-1 if it was forgotten.

// answered reports whether the next member has read what it was told last, and notes whether it has
// compared it.
func (t *Trail) answered(m *Mailbox) bool {
	if t.told == 0 {
		return true
	}
	answer := m.control.Peek(m.lay.trailReadNote())
	if posts.Reached(answer, posts.Value(2*t.told)) {
		t.compared = t.offered
	}
	return posts.Reached(answer, posts.Value(2*t.told-1))
}

// tell tells the next member of a period, which is one of those remembered.
func (t *Trail) tell(ctx context.Context, m *Mailbox, period uint64) error {
	le, out := binary.LittleEndian, m.control.Bytes()[m.lay.trailOut:][:trailSize]
	le.PutUint64(out, period)
	le.PutUint32(out[8:], t.before[period%trailPeriods])
	le.PutUint32(out[12:], t.behind(period))
	for i := range uint64(TrailPeriod) {
		le.PutUint32(out[trailHead+4*i:], t.signs[(period*TrailPeriod+i)%uint64(len(t.signs))])
	}
	src, err := m.control.Span(m.lay.trailOut, trailSize)
	if err != nil {
		return err
	}
	to := m.control.At(m.ranks[(m.me+1)%len(m.ranks)], m.lay.trailIn)
	n := gaspi.Notification{ID: m.lay.trailNote(), Value: posts.Value(t.told + 1)}
	if err := m.queue.Unneeded(m.queue.WriteNotify(ctx, to, src, n)); err != nil {
		return err
	}
	t.told, t.offered = t.told+1, (period+1)*TrailPeriod
	return nil
}

// compare compares a period that the member before has told of, if this one has ended it too, and
// lets it tell of another one.
func (t *Trail) compare(ctx context.Context, m *Mailbox, ended uint64) (f Fork, differ bool, err error) {
	le, in := binary.LittleEndian, m.control.Bytes()[m.lay.trailIn:][:trailSize]
	period := le.Uint64(in)
	if period >= ended {
		return Fork{}, false, nil
	}
	before := (m.me + len(m.ranks) - 1) % len(m.ranks)
	answer := 2*t.heard + 1
	if t.calls-period*TrailPeriod <= uint64(len(t.signs)) {
		if f, differ := t.fork(in, period); differ {
			f.Member = before
			return f, true, nil
		}
		answer++
	}
	n := gaspi.Notification{ID: m.lay.trailReadNote(), Value: posts.Value(answer)}
	if err := m.queue.Unneeded(m.queue.Notify(ctx, m.control.At(m.ranks[before], 0), n)); err != nil {
		return Fork{}, false, err
	}
	t.heard++
	return Fork{}, false, nil
}

// behind is the digest of all calls up to the end of a period, which has ended and is remembered.
func (t *Trail) behind(period uint64) uint32 {
	if (period+1)*TrailPeriod == t.calls {
		return t.digest
	}
	return t.before[(period+1)%trailPeriods]
}

// fork returns the first call in which a period that was told differs from that of this member, which
// remembers it. Mostly the digest says that none does.
func (t *Trail) fork(told []byte, period uint64) (f Fork, differ bool) {
	le := binary.LittleEndian
	if le.Uint32(told[12:]) == t.behind(period) {
		return Fork{}, false
	}
	for i := range uint64(TrailPeriod) {
		call := period*TrailPeriod + i
		mine, theirs := t.signs[call%uint64(len(t.signs))], le.Uint32(told[trailHead+4*i:])
		if mine != theirs {
			return Fork{Call: call, Mine: mine, Theirs: theirs}, true
		}
	}
	if le.Uint32(told[8:]) != t.before[period%trailPeriods] {
		sign := t.signs[period*TrailPeriod%uint64(len(t.signs))]
		return Fork{Call: period * TrailPeriod, Mine: sign, Theirs: sign}, true
	}
	return Fork{}, false
}
