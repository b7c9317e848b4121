package core

import (
	"slices"
	"testing"
)

// reader is rank 1 of two, which share memory. It borrows "a" of 160 bytes from rank 0, half of which it was told of.
func reader(t *testing.T) (c *Core, pull Pull) {
	t.Helper()
	c = New(Config{Rank: 1, Size: 2, Capacity: 64, Inline: -1, Near: []bool{true, true}})
	c.GetNear(1, "a")
	var out Output
	c.Drain(&out)
	ask := out.Sends[len(out.Sends)-1].Msg.watch()
	c.Receive(0, Located{ID: "a", Gen: 7, Token: 5, Size: 160, Ref: ask.Ref, NumRanks: 1}.message())
	c.Drain(&out)
	if pull = out.Sends[len(out.Sends)-1].Msg.Pull(); !pull.Lend || !pull.Borrow || pull.ID != "a" || pull.Gen != 7 || pull.Token != 5 {
		t.Fatalf("the Pull is %+v, want one that borrows a", pull)
	}
	c.Receive(0, Lent{Slot: pull.Slot, Seq: pull.Seq, Off: 512}.message())
	c.Arrived(pull.Slot, 80)
	if c.Drain(&out); len(out.Results) != 0 {
		t.Fatalf("results are %+v when half is there", out.Results)
	}
	return c, pull
}

// Goal: a program reads an object in the store of its owner, which does not fit here. The owner has it back after Release,
// and not before, though the object is gone and the owner asks for it.
func TestReadWhereItLies(t *testing.T) {
	for _, recalled := range []bool{false, true} {
		c, pull := reader(t)
		c.Arrived(pull.Slot, 160)
		var out Output
		c.Drain(&out)
		if len(out.Results) != 1 {
			t.Fatalf("results are %+v, want one", out.Results)
		}
		res := out.Results[0]
		if !res.Held || res.At != 0 || res.Off != 512 || res.Size != 160 || res.Code != OK {
			t.Errorf("the result is %+v, want 160 bytes at 512 of rank 0", res)
		}
		if recalled {
			c.Receive(0, Stopped{Slot: pull.Slot, Seq: pull.Seq}.message())
		}
		if sent, _ := wants(c); len(sent) != 0 || c.arena.Used() != 0 {
			t.Errorf("recalled %v: messages are %v and %d bytes are used while the program reads", recalled, sent, c.arena.Used())
		}
		c.Release(res.Ref)
		if sent, _ := wants(c); !slices.Equal(sent, []Kind{KindCancel}) {
			t.Errorf("recalled %v: messages after Release are %v, want a Cancel", recalled, sent)
		}
		if left := c.Left(); left != "" {
			t.Errorf("recalled %v: %s are left", recalled, left)
		}
	}
}

// Goal: a call goes on as a Get when the owner has given the object up, or died, before all of it was there.
func TestBorrowInVain(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(c *Core, pull Pull)
		sent []Kind // but for what the death of a rank takes
	}{
		{"stopped", func(c *Core, pull Pull) { c.Receive(0, Stopped{Slot: pull.Slot, Seq: pull.Seq}.message()) }, []Kind{KindCancel}},
		{"dead", func(c *Core, _ Pull) { c.Down(0) }, nil},
	} {
		core, pull := reader(t)
		c.end(core, pull)
		sent, _ := wants(core)
		if !slices.Contains(sent, KindGetReq) || !slices.Equal(sent[:len(c.sent)], c.sent) {
			t.Errorf("%s: messages are %v, want %v and a GetReq", c.name, sent, c.sent)
		}
		if o := core.objects["a"]; o == nil || o.state != wanted || len(core.passing) != 0 || count(core.slots, nil) != len(core.slots) {
			t.Errorf("%s: the object is %+v, %d are out of sight, slots %v", c.name, o, len(core.passing), core.slots)
		}
	}
}

// Goal: a reduction without room waits for memory that another rank copies from, and is refused where the program of another
// rank reads it: that may wait for the reduction.
func TestNoReductionWaitsForAReader(t *testing.T) {
	for _, borrow := range []bool{false, true} {
		c, _ := holder(Config{Size: 2, Capacity: 128, Inline: -1, Near: []bool{true, true}, Star: true}, 100, 100)
		c.Receive(1, Pull{ID: "a", Gen: 7, Slot: 3, Seq: 9, Size: 100, Lend: true, Borrow: borrow}.message())
		c.Receive(0, Drop{Code: Deleted, ID: "a", Gen: 7}.message())
		var out Output
		c.Drain(&out)
		c.Reduce(2, "sum", []string{"b"}, 1, 1)
		c.Drain(&out)
		ask := out.Sends[len(out.Sends)-1].Msg.watch()
		located := Located{ID: "b", Gen: 1, Token: 1, Size: 100, Ref: ask.Ref, Complete: true, NumRanks: 1, NumComplete: 1}
		located.Ranks[0] = 1
		c.Receive(1, located.message())
		c.Drain(&out)
		full := slices.ContainsFunc(out.Results, func(r CallResult) bool { return r.Call == 2 && r.Code == Full })
		if full != borrow {
			t.Errorf("borrowed %v: results are %+v", borrow, out.Results)
		}
	}
}
