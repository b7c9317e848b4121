package ssp

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// An endpoint is one end of a link in a simulation without memory, in which what
// is under way overtakes what else is under way as the seed decides.
type endpoint struct {
	out     outbox
	in      receiveWindow
	clock   int64 // calls begun
	sent    bool  // exact: the message of this call
	pending bool
}

// under is a message under way.
type under struct {
	seq, freed int64
}

// A simulation is two endpoints and what is on its way to each of them.
type simulation struct {
	rng     *rand.Rand
	ends    [2]endpoint
	writes  [2][]under // index is the receiver; any of them may arrive next
	credits [2][]int64 // index is the receiver; they arrive in order, the last counts
}

func newSimulation(seed uint64, exact bool) *simulation {
	s := &simulation{rng: rand.New(rand.NewPCG(seed, 1))}
	slots := int64(slotsNewest)
	if exact {
		slots = slotsExact
	}
	for i := range s.ends {
		s.ends[i] = endpoint{out: outbox{slots: slots}, in: receiveWindow{slots: slots, exact: exact}}
	}
	return s
}

// send writes the next message of end i and checks that nobody can be reading
// the slot, and that nothing older is still on its way into it.
func (s *simulation) send(i int) error {
	e, peer := &s.ends[i], &s.ends[1-i]
	e.out.sent++
	over := e.out.sent - e.out.slots
	if over > peer.in.released {
		return fmt.Errorf("end %d writes message %d over %d; the peer has released up to %d", i, e.out.sent, over, peer.in.released)
	}
	for _, m := range s.writes[1-i] {
		if m.seq == over {
			return fmt.Errorf("end %d writes message %d while %d is on its way into the same slot", i, e.out.sent, over)
		}
	}
	s.writes[1-i] = append(s.writes[1-i], under{seq: e.out.sent, freed: e.in.released})
	e.in.told = e.in.released
	e.pending = false
	return nil
}

// serve does what a poll does after the arrivals.
func (s *simulation) serve(i int) error {
	e := &s.ends[i]
	if e.pending && e.out.room() {
		if err := s.send(i); err != nil {
			return err
		}
	}
	if e.in.owesCredit() {
		e.in.told = e.in.released
		s.credits[1-i] = append(s.credits[1-i], e.in.told)
	}
	return nil
}

// deliver lets something arrive at end i, if anything is on its way.
func (s *simulation) deliver(i int) error {
	e := &s.ends[i]
	if n := len(s.credits[i]); n > 0 && s.rng.IntN(2) == 0 {
		seen := s.rng.IntN(n) // earlier ones are overwritten before anybody looks
		e.out.credited(valueOf(s.credits[i][seen]))
		s.credits[i] = s.credits[i][seen+1:]
		return nil
	}
	n := len(s.writes[i])
	if n == 0 {
		return nil
	}
	at := s.rng.IntN(n)
	m := s.writes[i][at]
	s.writes[i] = append(s.writes[i][:at], s.writes[i][at+1:]...)
	if !e.in.arrive(int(m.seq%e.in.slots), m.seq) || !e.out.free(m.freed) {
		return fmt.Errorf("end %d refuses message %+v: %+v", i, m, *e)
	}
	return nil
}

// callExact does a part of a call of end i.
func (s *simulation) callExact(i int) error {
	e := &s.ends[i]
	if !e.sent {
		e.clock++
		if !e.out.room() {
			return fmt.Errorf("end %d has no slot for message %d, but in exact mode there is always one: %+v", i, e.clock, *e)
		}
		e.sent = true
		return s.send(i)
	}
	if slot, ok := e.in.current(e.clock); ok {
		if e.in.there[slot] != e.clock || e.in.released >= e.clock {
			return fmt.Errorf("call %d reads slot %d: %+v", e.clock, slot, e.in)
		}
		e.in.used(e.clock)
		e.sent = false
	}
	return s.serve(i)
}

// callNewest makes something new to send at end i.
func (s *simulation) callNewest(i int) error {
	e := &s.ends[i]
	e.pending = true
	if slot, ok := e.in.current(0); ok && (e.in.there[slot] != e.in.newest || e.in.released >= e.in.newest) {
		return fmt.Errorf("the newest message is not safe: %+v", e.in)
	}
	return s.serve(i)
}

func (s *simulation) run(steps int, call func(int) error) error {
	for step := range steps {
		i := s.rng.IntN(2)
		err := s.deliver(i)
		if err == nil && s.rng.IntN(3) == 0 {
			err = call(i)
		}
		if err == nil {
			err = s.serve(i)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	return nil
}

func TestConcurrentWindowsNeverCollide(t *testing.T) {
	for _, exact := range []bool{true, false} {
		t.Run(fmt.Sprintf("exact=%v", exact), func(t *testing.T) {
			var done int64
			for seed := range uint64(300) {
				s := newSimulation(seed, exact)
				call := s.callNewest
				if exact {
					call = s.callExact
				}
				if err := s.run(2000, call); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				done += s.ends[0].out.sent + s.ends[1].out.sent
			}
			if done < 300*200 {
				t.Errorf("only %d messages: the simulation hardly moved", done)
			}
		})
	}
}

// A sender that holds something back gets a slot as soon as its peer looks at
// what has arrived, although the peer sends nothing.
func TestHeldBackMessageAlwaysGoesOut(t *testing.T) {
	for seed := range uint64(2000) {
		s := newSimulation(seed, false)
		if err := s.run(s.rng.IntN(200), s.callNewest); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// From here on end 1 only waits, and end 0 has one more message to send.
		s.ends[1].pending = false
		s.ends[0].pending = true
		for range 200 {
			for i := range s.ends {
				if err := s.deliver(i); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if err := s.serve(i); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		if s.ends[0].pending {
			t.Fatalf("seed %d: still held back: sender %+v, receiver %+v", seed, s.ends[0].out, s.ends[1].in)
		}
	}
}

func TestArriveRefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name string
		slot int
		seq  int64
	}{
		{"wrong slot", 1, 3},
		{"same again", 2, 2},
		{"beyond the window", 2, 5},
		{"negative", 0, -3},
		{"zero", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := receiveWindow{slots: slotsNewest}
			if !b.arrive(1, 1) || !b.arrive(2, 2) { // message 1 is released by message 2
				t.Fatal("refused messages 1 and 2")
			}
			if b.released != 1 {
				t.Fatalf("released %d, want 1", b.released)
			}
			if before := b; b.arrive(c.slot, c.seq) || b != before {
				t.Errorf("took message %d in slot %d: %+v", c.seq, c.slot, b)
			}
		})
	}
}

// The numbers of messages go beyond 32 bits; notifications do not.
func TestCreditWrapsAround(t *testing.T) {
	for _, sent := range []int64{1 << 31, 1 << 32, 1<<32 + 1, 1 << 40} {
		o := outbox{slots: 3, sent: sent, freed: sent - 3}
		o.credited(valueOf(sent - 1))
		if o.freed != sent-1 {
			t.Errorf("sent %d: freed %d, want %d", sent, o.freed, sent-1)
		}
		o.credited(valueOf(sent - 2)) // overtaken by a message that said more
		if o.freed != sent-1 {
			t.Errorf("sent %d: old news changed freed to %d", sent, o.freed)
		}
		if valueOf(sent) == 0 {
			t.Errorf("message %d is notified as 0", sent)
		}
	}
}
