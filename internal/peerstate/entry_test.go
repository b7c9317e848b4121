package peerstate

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

var update = flag.Bool("update", false, "write testdata/transitions.txt anew")

// The rank of these tests, and errors that name it.
const rank base.Rank = 3

var (
	broke  = &base.RankError{Rank: rank, Reason: "its connection broke"}
	failed = &base.RankError{Rank: rank, Reason: "an operation failed"}
	other  = &base.RankError{Rank: rank + 1, Reason: "another rank failed"}
	died   = &base.RankError{Rank: rank, Reason: "killed by signal 9"}
	left   = &base.RankError{Rank: rank, Reason: "exited with status 0", Left: true}
)

// events are all kinds of events, by name.
var events = []struct {
	name string
	Event
}{
	{"broke", Event{Kind: Broke, Err: broke, At: time.Unix(1, 0)}},
	{"failed", Event{Kind: Failed, Err: failed}},
	{"failed, naming another", Event{Kind: Failed, Err: other}},
	{"untold", Event{Kind: Untold}},
	{"unheard", Event{Kind: Unheard}},
	{"ended: died", Event{Kind: Ended, Err: died}},
	{"ended: left", Event{Kind: Ended, Err: left}},
	{"quieted", Event{Kind: Quieted}},
	{"pardoned", Event{Kind: Pardoned}},
}

// text is all that is known of a peer, on a line.
func text(p Entry) string {
	words := []string{p.State.String()}
	for _, w := range []struct {
		holds bool
		word  string
	}{
		{p.Corrupt, "corrupt"},
		{p.Quiet, "quiet"},
		{p.Turn != 0, fmt.Sprintf("turn %d", p.Turn)},
		{p.End != nil, "end: " + reason(p.End)},
		{p.Cause != nil, "cause: " + reason(p.Cause)},
		{p.Broken != nil, "broken: " + reason(p.Broken)},
		{!p.BrokenAt.IsZero(), "at " + fmt.Sprint(p.BrokenAt.Unix())},
	} {
		if w.holds {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

func reason(err *base.RankError) string {
	if err == nil {
		return ""
	}
	return err.Reason
}

// TestTransitions compares what each event makes of each state with testdata/transitions.txt.
// The rows are peers that events have led to, from a healthy one on; all events have the next
// number in the order of losses.
func TestTransitions(t *testing.T) {
	var b strings.Builder
	for _, history := range [][]int{{}, {0}, {1}, {1, 8}, {2}, {0, 1}, {0, 1, 3}, {0, 1, 3, 4}, {0, 1, 3, 4, 8}, {5}, {5, 7}, {5, 7, 8}, {6}, {6, 7}, {0, 1, 3, 5}} {
		var p Entry
		var names []string
		for i, e := range history {
			p = p.After(rank, events[e].Event, int32(i+1))
			names = append(names, events[e].name)
		}
		fmt.Fprintf(&b, "%s\n    (after: %s)\n", text(p), cmp.Or(strings.Join(names, "; "), "nothing"))
		for _, e := range events {
			next := p.After(rank, e.Event, 9)
			if next == p {
				continue
			}
			fmt.Fprintf(&b, "    %-24s -> %s\n", e.name, text(next))
		}
	}
	const golden = "testdata/transitions.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("(-want +got; -update writes the file)\n%s", d)
	}
}

// TestHasLeft has operations and the launcher tell of a rank that left and of one that died.
func TestHasLeft(t *testing.T) {
	closed := &base.RankError{Rank: rank, Reason: "it closed its connections", Left: true}
	for _, c := range []struct {
		name   string
		events []Event
		want   bool
	}{
		{"there", nil, false},
		{"left", []Event{{Kind: Ended, Err: left}}, true},
		{"died", []Event{{Kind: Ended, Err: died}}, false},
		{"closed its connections", []Event{{Kind: Failed, Err: closed}}, true},
		{"closed its connections, and died", []Event{{Kind: Failed, Err: closed}, {Kind: Ended, Err: died}}, false},
		{"an operation failed, and it left", []Event{{Kind: Failed, Err: failed}, {Kind: Ended, Err: left}}, true},
	} {
		var p Entry
		for i, e := range c.events {
			p = p.After(rank, e, int32(i+1))
		}
		if got := p.HasLeft(); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
