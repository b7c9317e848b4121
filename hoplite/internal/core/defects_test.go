package core

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A desk is a directory that a test talks to by hand, as all the other ranks.
type desk struct {
	t   *testing.T
	c   *Core
	id  string
	gen uint64
	ref uint64
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, c: New(Config{Size: 16, Inline: -1})}
	for i := 0; d.id == ""; i++ {
		if id := fmt.Sprint("x", i); ShardOf(id, 16) == 0 {
			d.id = id
		}
	}
	return d
}

// say sends a message about the object, of the generation that it has, and returns what the
// directory answers, but for what goes to other directories.
func (d *desk) say(from Rank, m Message) []Send {
	m.ID = d.id
	fields{&m, true}.u64(atGen, &d.gen)
	d.c.Receive(from, m)
	return d.answers()
}

func (d *desk) answers() []Send {
	var out Output
	d.c.Drain(&out)
	var sends []Send
	for _, s := range out.Sends {
		if k := s.Msg.Kind(); k != KindRep && k != KindMarker {
			sends = append(sends, s)
		}
	}
	return sends
}

func (d *desk) put(r Rank) {
	d.t.Helper()
	s := d.say(r, PutReq{Size: 100, Token: uint64(r) + 1}.message())
	if len(s) == 0 || s[0].Msg.Kind() != KindPutAck || s[0].Msg.putAck().Code != OK {
		d.t.Fatalf("put by %d: %+v", r, s)
	}
	d.gen = s[0].Msg.putAck().Gen
	d.say(r, Done{}.message())
}

// get asks for a rank and expects to be sent to a source; NoRank expects to wait.
func (d *desk) get(r, source Rank) {
	d.t.Helper()
	d.ref++
	d.expect(d.say(r, GetReq{Ref: d.ref}.message()), r, source)
}

func (d *desk) orphan(r, bad, source Rank) {
	d.t.Helper()
	d.ref++
	d.expect(d.say(r, Orphan{Rank: bad, Dead: true, Ref: d.ref}.message()), r, source)
}

func (d *desk) expect(s []Send, r, source Rank) {
	d.t.Helper()
	switch {
	case source == NoRank && len(s) == 0:
	case source != NoRank && len(s) == 1 && s[0].To == r && s[0].Msg.Kind() == KindAssign &&
		s[0].Msg.assign().Rank == source && s[0].Msg.assign().Ref == d.ref:
	default:
		d.t.Fatalf("rank %d asked, expected source %d: %+v", r, source, s)
	}
}

// TestDeadIsNotOffered is the schedule in which the paper's code offers a dead rank, and
// before that recovers a receiver twice: its chain then has the receiver two times.
func TestDeadIsNotOffered(t *testing.T) {
	d := newDesk(t)
	const a, b, e, x, y, z = 1, 2, 3, 4, 5, 6
	d.put(a)
	d.get(b, a)
	d.say(b, Done{}.message())
	d.get(e, a)
	d.c.Down(a)
	d.answers()
	d.say(e, Done{}.message())
	d.get(x, b)
	d.get(y, e)
	d.c.Down(e)
	d.answers()
	d.orphan(y, e, x) // b still sends to x; y goes on behind x
	d.say(x, Done{}.message())
	d.say(y, Done{}.message())
	for r := Rank(z); r < z+3; r++ {
		d.ref++
		s := d.say(r, GetReq{Ref: d.ref}.message())
		if len(s) != 1 || s[0].Msg.Kind() != KindAssign || s[0].Msg.assign().Rank == e || s[0].Msg.assign().Rank == a {
			t.Fatalf("rank %d was sent to a dead rank: %+v", r, s)
		}
	}
	if err := Check([]*Core{d.c}, make([]bool, 1), false); err != nil {
		t.Error(err)
	}
}

// TestSecondReport: a receiver that reports again, after its sender was removed, gets a
// source again, and is not listed twice.
func TestSecondReport(t *testing.T) {
	d := newDesk(t)
	d.put(1)
	d.get(2, 1)
	d.say(2, Done{}.message())
	d.get(3, 1)
	d.c.Down(1)
	d.answers()
	d.orphan(3, 1, 2)
	d.orphan(3, 1, 2)
	if err := Check([]*Core{d.c}, make([]bool, 1), false); err != nil {
		t.Error(err)
	}
}

// TestLastCopyLost: who waits for an object whose last copy is gone is told, and so is who
// asks later; a new put makes a new object.
func TestLastCopyLost(t *testing.T) {
	d := newDesk(t)
	d.put(1)
	d.get(2, 1)
	d.get(3, 2)
	d.c.Down(1)
	if s := d.answers(); len(s) != 0 {
		t.Fatalf("declared lost before rank 2 said what it has: %+v", s)
	}
	d.ref++
	s := d.say(2, Orphan{Rank: 1, Dead: true, Ref: d.ref}.message())
	if len(s) != 2 || s[0].Msg.Kind() != KindDrop || s[0].Msg.drop().Code != Lost || s[1].Msg.Kind() != KindDrop || s[1].Msg.drop().Code != Lost {
		t.Fatalf("ranks 2 and 3 must hear that it is lost: %+v", s)
	}
	s = d.say(4, GetReq{Ref: 9}.message())
	if len(s) != 1 || s[0].Msg.Kind() != KindFail || s[0].Msg.fail().Code != Lost {
		t.Fatalf("a later Get: %+v", s)
	}
	old := d.gen
	d.put(5)
	if d.gen <= old {
		t.Errorf("generation %d after %d", d.gen, old)
	}
	d.get(4, 5)
}

// TestReplicaIsTold: the record of a small object, bytes and all, goes to the next rank; a
// mutant sends nothing.
func TestReplicaIsTold(t *testing.T) {
	for _, m := range withAndWithout(MutantNoReplica) {
		d := newDesk(t)
		d.c.cfg = broken(d.c.cfg, m)
		d.c.cfg.Inline, d.c.cfg.InlineQuota = 8, 8
		d.c.Receive(3, PutReq{ID: d.id, Size: 2, Token: 1, Complete: true, Data: []byte("ab")}.message())
		var out Output
		d.c.Drain(&out)
		told := false
		for _, s := range out.Sends {
			told = told || s.To == 1 && s.Msg.Kind() == KindRep && string(s.Msg.Payload) == "ab"
		}
		if told != (m == MutantNone) {
			t.Errorf("mutant %s: replica told: %v", m, told)
		}
	}
}

// TestCompleteInTime: a receiver that had all bytes when its source died saves the object.
func TestCompleteInTime(t *testing.T) {
	d := newDesk(t)
	d.put(1)
	d.get(2, 1)
	d.c.Down(1)
	d.answers()
	d.say(2, Done{}.message())
	d.get(3, 2)
}

// TestResumeUpstream: whoever is given to an orphan as its source does not depend on it.
func TestResumeUpstream(t *testing.T) {
	d := newDesk(t)
	d.put(1)
	d.get(2, 1)
	d.say(2, Done{}.message())
	d.get(3, 1)
	d.get(4, 2)
	d.get(5, 3)
	d.c.Down(1)
	d.answers()
	d.orphan(3, 1, 4) // not 5, which comes after 3
}

// TestLateWord: what is said about another generation changes nothing.
func TestLateWord(t *testing.T) {
	d := newDesk(t)
	d.put(1)
	old := d.gen
	d.get(2, 1)
	if s := d.say(3, DelReq{Ref: 1}.message()); len(s) != 2 {
		t.Fatalf("two ranks must drop it: %+v", s)
	}
	d.say(1, DropAck{}.message())
	d.say(2, DropAck{}.message())
	d.c.Receive(1, RepAck{ID: d.id}.message())
	if s := d.answers(); len(s) != 1 || s[0].Msg.Kind() != KindDelAck {
		t.Fatalf("deleted: %+v", s)
	}
	d.gen = 0
	d.put(4)
	gen := d.gen
	d.get(2, 4)
	d.gen = old
	d.say(2, Done{}.message())
	d.gen = gen
	d.get(5, 2) // still partial: 4 sends to 2
	e := d.c.shards[0].entries[d.id]
	if e.find(2).complete {
		t.Error("a word about the old generation made the new copy complete")
	}
}

// TestPutSurvivesWithdraw: a rank puts what another is making, and that gives it up. A receiver
// goes on with the object that was put.
func TestPutSurvivesWithdraw(t *testing.T) {
	d := newDesk(t)
	d.gen = d.say(1, PutReq{Size: 100, Token: 7, Making: true}.message())[0].Msg.putAck().Gen
	d.get(3, 1)
	if s := d.say(2, PutReq{Size: 100, Token: 8}.message()); len(s) != 1 || s[0].Msg.putAck().Code != OK || s[0].Msg.putAck().Gen != d.gen {
		t.Fatalf("the same content: %+v", s)
	}
	d.say(2, Done{}.message())
	for range 2 { // a new directory may hear it again
		if s := d.say(1, Withdraw{Token: 7}.message()); len(s) != 0 {
			t.Fatalf("withdrawn: %+v", s)
		}
	}
	d.ref++
	d.expect(d.say(3, Orphan{Rank: 1, Ref: d.ref}.message()), 3, 2)
}

// TestAnotherGeneration: who asks for what a name meant before is refused; a mutant sends
// what it means now.
func TestAnotherGeneration(t *testing.T) {
	for _, m := range withAndWithout(MutantNoGeneration) {
		t.Run(m.String(), func(t *testing.T) {
			s := newScene(t, 2, broken(Config{Capacity: 1000, Inline: -1}, m))
			id := idOf(0, 2)
			for call := CallID(1); call < 3; call++ {
				s.at(1, func(c *Core) { c.Put(call, id, 100, 0); c.Filled(call, 100) })
				s.rest()
				if call == 1 {
					s.at(0, func(c *Core) { c.Delete(9, id) })
					s.rest()
				}
			}
			old := Pull{ID: id, Gen: s.cores[1].objects[id].gen - 1, Size: 100}.message()
			s.at(1, func(c *Core) { c.Receive(0, old) })
			if refused := len(s.puts) == 0; refused != (m == MutantNone) {
				t.Errorf("refused: %v; puts %+v", refused, s.puts)
			}
		})
	}
}

// TestLateRecord: the next owner of a shard hears first from a receiver of an object, and
// then, from the owner that is dying, that the object was made anew. The receiver is told:
// what it has is not a part of that.
func TestLateRecord(t *testing.T) {
	const old, next, receiver = 0, 1, 2
	s := newScene(t, 3, Config{Capacity: 1000, Inline: -1})
	id := idOf(old, 3)
	s.at(next, func(c *Core) {
		c.Receive(receiver, Register{ID: id, Gen: 2, Token: 7, Size: 100, Rank: NoRank, Own: 5, Ref: 6, Orphan: true}.message())
		c.Receive(receiver, Marker{}.message())
		c.Receive(old, Rep{ID: id, Gen: 3, Token: 9, Size: 100}.message())
		c.Down(old)
	})
	s.take(next, next, KindMarker)
	mail := s.mail[[2]Rank{next, receiver}]
	if len(mail) == 0 || mail[0].Kind() != KindDrop || mail[0].drop() != (Drop{Code: Restart, ID: id, Gen: 2}) {
		t.Errorf("the receiver was told %+v", mail)
	}
	if e := s.cores[next].shards[old].entries[id]; !e.lost || e.gen != 3 {
		t.Errorf("generation %d, lost: %v; 3 is lost", e.gen, e.lost)
	}
}

// TestCanceledPutGoesOn: a Put that has room is done although it was canceled, and has one
// result only.
func TestCanceledPutGoesOn(t *testing.T) {
	c := New(Config{Size: 1, Capacity: 1000, Inline: -1})
	var codes []Code
	drain := func() {
		var out Output
		c.Drain(&out)
		for _, r := range out.Results {
			codes = append(codes, r.Code)
		}
		for _, s := range out.Sends {
			c.Receive(0, s.Msg)
		}
	}
	c.Put(1, "x", 100, 0)
	drain()
	c.Cancel(1)
	drain()
	c.Filled(1, 100)
	drain()
	c.Get(2, "x")
	drain()
	if d := cmp.Diff([]Code{Canceled, OK}, codes); d != "" {
		t.Errorf("results of the Put and of a Get (-want +got):\n%s", d)
	}
}

// TestLastHopeAsksAnew: the only receiver whose source died may have all bytes, until it
// asks as one that has none.
func TestLastHopeAsksAnew(t *testing.T) {
	d := newDesk(t)
	d.put(1)
	d.get(2, 1)
	d.c.Down(1)
	d.answers()
	s := d.say(2, GetReq{Ref: 9}.message())
	if len(s) != 1 || s[0].To != 2 || s[0].Msg.Kind() != KindFail || s[0].Msg.fail().Code != Lost || s[0].Msg.fail().Ref != 9 {
		t.Errorf("rank 2 was told %+v, expected that it is lost", s)
	}
}

// TestWithdrawAfterTakeover: the next owner of a shard hears first from the rank whose put
// was joined with what another makes, then from that one, which gives it up.
func TestWithdrawAfterTakeover(t *testing.T) {
	const old, next, putter, maker = 0, 1, 2, 3
	s := newScene(t, 4, Config{Capacity: 1000, Inline: -1})
	id := idOf(old, 4)
	reg := Register{ID: id, Gen: 2, Size: 100, Rank: NoRank, Origin: true, Pinned: true}
	s.at(next, func(c *Core) {
		reg.Token, reg.Complete = 8, true
		c.Receive(putter, reg.message())
		reg.Token, reg.Complete = 7, false
		c.Receive(maker, reg.message())
		c.Receive(putter, Marker{}.message())
		c.Receive(maker, Marker{}.message())
		c.Receive(maker, Withdraw{ID: id, Token: 7}.message())
		c.Down(old)
	})
	s.take(next, next, KindMarker)
	e := s.cores[next].shards[old].entries[id]
	if e.gen != 2 || e.find(maker) != nil || e.find(putter) == nil {
		t.Errorf("generation %d, copies %+v; only that of rank %d is left", e.gen, e.copies, putter)
	}
}
