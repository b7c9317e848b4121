package core

import (
	"slices"
	"testing"
)

// holder is a rank with an object "a", of which so many bytes are there, and the token of the object.
func holder(cfg Config, size, filled int64) (c *Core, token uint64) {
	c = New(cfg)
	c.Put(1, "a", size, 0)
	c.Filled(1, filled)
	var out Output
	c.Drain(&out)
	token = out.Sends[len(out.Sends)-1].Msg.putReq().Token
	c.Receive(0, PutAck{ID: "a", Gen: 7, Token: token}.message())
	return c, token
}

// lender is a rank with an object of 100 bytes, half of which was told to rank 1 that reads it
// there. It is the only thing that fits.
func lender(t *testing.T, m Mutant) *Core {
	t.Helper()
	c, _ := holder(broken(Config{Size: 2, Capacity: 128, Inline: -1, Near: []bool{true, true}}, m), 100, 64)
	var out Output
	c.Receive(1, Pull{ID: "a", Gen: 7, Slot: 3, Seq: 9, Size: 100, Lend: true}.message())
	c.Drain(&out)
	if n := len(out.Commands); n != 1 || out.Commands[0].Op != OpTell || out.Commands[0].Watermark != 64 {
		t.Fatalf("commands are %+v, want the word of 64 bytes", out.Commands)
	}
	if s := out.Sends[len(out.Sends)-1]; s.To != 1 || s.Msg.Kind() != KindLent {
		t.Fatalf("the last message is %+v, want a Lent to rank 1", s)
	}
	return c
}

// Goal: memory that another rank reads is used for nothing else until it has given it back, also
// when the object is deleted; and then it is.
func TestLentMemoryStays(t *testing.T) {
	for _, m := range withAndWithout(MutantFreeLent) {
		c := lender(t, m)
		c.Filled(1, 100)
		c.Receive(0, Drop{Code: Deleted, ID: "a", Gen: 7}.message())
		c.Put(2, "b", 100, 0)
		var out Output
		c.Drain(&out)
		stopped, filled := 0, 0
		for _, s := range out.Sends {
			if s.Msg.Kind() == KindStopped {
				stopped++
			}
		}
		for _, cmd := range out.Commands {
			if cmd.Op == OpFill {
				filled++
			}
		}
		if early := filled > 0; early != (m == MutantFreeLent) {
			t.Errorf("%v: memory that is lent was given to another object: %v", m, early)
		}
		if m != MutantNone {
			continue
		}
		if stopped != 1 {
			t.Errorf("rank 1 was told %d times that the object is gone, want once", stopped)
		}
		if c.Receive(1, Cancel{Slot: 3, Seq: 9}.message()); len(c.transfers) != 0 {
			t.Errorf("%d transfers are left after the memory was given back", len(c.transfers))
		}
		c.Drain(&out)
		if len(out.Commands) == 0 || out.Commands[0].Op != OpFill {
			t.Errorf("the memory was given back, and commands are %+v; want one that fills it", out.Commands)
		}
	}
}

// Goal: the death of the rank that reads gives the memory back.
func TestLentToTheDead(t *testing.T) {
	c := lender(t, MutantNone)
	c.Filled(1, 100)
	c.Receive(0, Drop{Code: Deleted, ID: "a", Gen: 7}.message())
	if c.arena.Used() == 0 {
		t.Fatal("memory that is lent was given back")
	}
	if c.Down(1); c.arena.Used() != 0 {
		t.Errorf("%d bytes are kept for a rank that is dead", c.arena.Used())
	}
}

// Goal: inputs of ranks that share memory take none here. A fold of them is not counted before it is
// reported, and there is none after the death of one of them.
func TestFoldIsReported(t *testing.T) {
	c, token := holder(Config{Size: 3, Capacity: 1 << 10, Chunk: 64, Inline: -1, Near: []bool{true, true, true}}, 256, 256)
	var out Output
	c.Receive(2, JobReq{
		ID: "a", Gen: 7, Token: token, Size: 256, Stream: Stream{Owner: 2, Reduce: 1},
		NumIns: 2, Ins: [maxIns]In{{Rank: 1, Position: 1}, {Rank: 2, Position: 2}},
	}.message())
	c.Drain(&out)
	if c.arena.Used() != 512 {
		t.Errorf("%d bytes are in use, want those of the source and of the result", c.arena.Used())
	}
	for _, s := range out.Sends {
		if s.Msg.Kind() != KindPull {
			continue
		}
		pull := s.Msg.Pull()
		if c.Arrived(pull.Slot, 256); !pull.Lend {
			t.Fatalf("the Pull is %+v, want one of what is to be lent", pull)
		}
		if c.Receive(s.To, Lent{Slot: pull.Slot, Seq: pull.Seq, Off: 512}.message()); s.To == 1 && len(c.folds) > 0 {
			t.Fatal("a fold has begun before both inputs are known")
		}
	}
	c.Drain(&out)
	cmd := out.Commands
	if len(cmd) != 2 || cmd[0].Op != OpFold || !slices.Equal(cmd[0].From, []Operand{{1, 512}, {2, 512}, {0, 0}}) || cmd[0].Len != 64 ||
		cmd[1].Op != OpReport {
		t.Fatalf("commands are %+v, want a fold of the first chunk of each and a report", cmd)
	}
	j := c.folds[cmd[1].Transfer]
	c.Sent(cmd[1].Transfer)
	if c.Drain(&out); j.done != 64 {
		t.Errorf("%d bytes are folded after a report, want 64", j.done)
	}
	c.Down(1)
	c.Sent(out.Commands[1].Transfer)
	if c.Drain(&out); len(out.Commands) != 0 {
		t.Errorf("commands are %+v after the death of a sender", out.Commands)
	}
}

// getter is rank 1 of two, which share memory, and waits for "a" of 160 bytes at rank 0, all but the last 32 of which
// it was told of. A reduction makes the object, if made says so; others are lent if they have lendFrom bytes.
func getter(made bool, lendFrom int64) (c *Core, pull Pull) {
	c = New(Config{Rank: 1, Size: 2, Capacity: 256, Chunk: 64, Inline: -1, Near: []bool{true, true}, LendFrom: lendFrom})
	c.Get(1, "a")
	c.Receive(0, Assign{ID: "a", Gen: 7, Size: 160, Ref: c.objects["a"].dir.ask, Making: made}.message())
	var out Output
	c.Drain(&out)
	pull = out.Sends[len(out.Sends)-1].Msg.Pull()
	c.Receive(0, Lent{Slot: pull.Slot, Seq: pull.Seq, Off: 512}.message())
	c.Arrived(pull.Slot, 128)
	return c, pull
}

// wants are the kinds of messages that a core sends, and the commands that it gives.
func wants(c *Core) (sent []Kind, commands []Command) {
	var out Output
	c.Drain(&out)
	for i := range out.Sends {
		sent = append(sent, out.Sends[i].Msg.Kind())
	}
	return sent, out.Commands
}

// Goal: a Get copies what a reduction makes by itself, where the maker lends it: chunk by chunk, as far as it
// was told. The memory goes back when all was copied. So it does with long objects; shorter ones are sent.
func TestGetCopiesWhatIsLent(t *testing.T) {
	for _, lendFrom := range []int64{0, 161} {
		if _, pull := getter(false, lendFrom); pull.Lend {
			t.Errorf("an object of 160 bytes is lent to a Get, though long ones have %d", lendFrom)
		}
	}
	copies(t, true, 0)
	copies(t, false, 160)
}

// copies has a Get copy what it is lent to the end.
func copies(t *testing.T, made bool, lendFrom int64) {
	t.Helper()
	c, pull := getter(made, lendFrom)
	if !pull.Lend {
		t.Fatalf("the Pull is %+v, want one of what is to be lent", pull)
	}
	o := c.objects["a"]
	for _, step := range []struct{ at, n, told int64 }{{0, 64, 128}, {64, 64, 160}, {128, 32, 160}} {
		_, cmd := wants(c)
		if len(cmd) != 2 || cmd[0].Op != OpCopy || cmd[0].Off != o.mem.off+step.at || cmd[0].Src != 512+step.at || cmd[0].Len != step.n || cmd[1].Op != OpReport {
			t.Fatalf("commands at %d are %+v, want a copy of %d bytes from there and a report", step.at, cmd, step.n)
		}
		if cmd[0].Whole != 160 {
			t.Errorf("the copy is one of an object of %d bytes, want 160", cmd[0].Whole)
		}
		if o.mem.have != step.at {
			t.Errorf("the watermark is %d before the report of what follows %d", o.mem.have, step.at)
		}
		c.Sent(cmd[1].Transfer)
		c.Arrived(pull.Slot, step.told)
	}
	sent, cmd := wants(c)
	if !slices.Contains(sent, KindCancel) || !slices.Contains(sent, KindDone) || len(cmd) != 0 {
		t.Errorf("at the end messages are %v and commands %+v, want a Cancel and a Done", sent, cmd)
	}
	if o.state != complete || len(c.copies) != 0 || count(c.slots, nil) != len(c.slots) {
		t.Errorf("state %d, %d copies, slots %v; want a complete object and nothing else", o.state, len(c.copies), c.slots)
	}
}

// Goal: a copy whose source was withdrawn, or has died, is not counted when it is reported: the Get goes on from
// another source where the reports end.
func TestCopyFromOneThatIsGone(t *testing.T) {
	for _, end := range []struct {
		what string
		do   func(c *Core, pull Pull)
	}{
		{"withdrawn", func(c *Core, pull Pull) { c.Receive(0, Stopped{Slot: pull.Slot, Seq: pull.Seq}.message()) }},
		{"dead", func(c *Core, pull Pull) { c.Down(0) }},
		{"deleted", func(c *Core, pull Pull) { c.Receive(0, Drop{Code: Deleted, ID: "a", Gen: 7}.message()) }},
	} {
		c, pull := getter(true, 0)
		o := c.objects["a"]
		_, cmd := wants(c)
		c.Sent(cmd[1].Transfer)
		_, cmd = wants(c)
		end.do(c, pull)
		c.Sent(cmd[1].Transfer)
		if _, after := wants(c); o.mem.have != 64 || len(after) != 0 || len(c.copies) != 0 {
			t.Errorf("%s: the watermark is %d, commands are %+v, %d copies are left; want 64 and none", end.what, o.mem.have, after, len(c.copies))
		}
	}
}
