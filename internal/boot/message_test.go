package boot

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

func TestMessagesGolden(t *testing.T) {
	cases := []struct {
		message message
		line    string
	}{
		{message{Kind: kindHello, Version: 6, Job: "0a-F", Rank: 2, Size: 3}, `{"kind":"hello","version":6,"job":"0a-F","rank":2,"size":3}`},
		{message{Kind: kindHello, Version: 6, Job: "j", Size: 1, Key: "6b"}, `{"kind":"hello","version":6,"job":"j","rank":0,"size":1,"key":"6b"}`},
		{message{Kind: kindPut, Rank: 1, Name: "tcp", Value: []byte("v")}, `{"kind":"put","rank":1,"name":"tcp","value":"dg=="}`},
		{message{Kind: kindGet, Rank: 2, Name: "tcp"}, `{"kind":"get","rank":2,"name":"tcp"}`},
		{message{Kind: kindValue, Rank: 2, Name: "tcp", Value: []byte("v")}, `{"kind":"value","rank":2,"name":"tcp","value":"dg=="}`},
		{message{Kind: kindNever, Rank: 2, Name: "tcp", Reason: "exit status 3"}, `{"kind":"never","rank":2,"name":"tcp","reason":"exit status 3"}`},
		{message{Kind: kindFence, Rank: 1, Name: "start", Word: "w"}, `{"kind":"fence","rank":1,"name":"start","word":"w"}`},
		{message{Kind: kindFenced, Name: "start"}, `{"kind":"fenced","rank":0,"name":"start"}`},
		{message{Kind: kindBroken, Rank: 3, Name: "start", Reason: "exit status 3"}, `{"kind":"broken","rank":3,"name":"start","reason":"exit status 3"}`},
		{message{Kind: kindKill, Rank: 7}, `{"kind":"kill","rank":7}`},
		{message{Kind: kindMiss, Rank: 7, Reason: "silent"}, `{"kind":"miss","rank":7,"reason":"silent"}`},
		{message{Kind: kindBye}, `{"kind":"bye","rank":0}`},
		{message{Kind: kindGone, Rank: 1, Left: true, Reason: "exit status 0"}, `{"kind":"gone","rank":1,"left":true,"reason":"exit status 0"}`},
		{message{Kind: kindGone, Rank: 4, Also: []base.Rank{2, 3}, Reason: "r"}, `{"kind":"gone","rank":4,"reason":"r","also":[2,3]}`},
		{message{Kind: kindRefuse, Rank: 1, Reason: "no \"such\" <process>\n"}, `{"kind":"refuse","rank":1,"reason":"no \"such\" \u003cprocess\u003e\n"}`},
		{message{Kind: kindAsk, Number: 7, Name: "heap"}, `{"kind":"ask","rank":0,"name":"heap","number":7}`},
		{message{Kind: kindAnswer, Number: 7, Value: []byte("v"), More: true}, `{"kind":"answer","rank":0,"value":"dg==","number":7,"more":true}`},
		{message{Kind: kindError, Reason: "why"}, `{"kind":"error","rank":0,"reason":"why"}`},
	}
	for _, c := range cases {
		line, err := encode(c.message)
		if err != nil || string(line) != c.line+"\n" {
			t.Errorf("encode %+v: %q, %v; want %q", c.message, line, err, c.line)
		}
		back, err := decode([]byte(c.line))
		if d := cmp.Diff(c.message, back); err != nil || d != "" {
			t.Errorf("decode %s: %v (-want +got):\n%s", c.line, err, d)
		}
	}
}

func TestMalformedMessages(t *testing.T) {
	cases := []struct{ name, line, want string }{
		{"empty", ``, "malformed"},
		{"no JSON", `hello`, "malformed"},
		{"no object", `[1]`, "malformed"},
		{"cut off", `{"kind":"bye","rank":`, "malformed"},
		{"more than one", `{"kind":"bye","rank":0}{"kind":"bye","rank":0}`, "follows"},
		{"unknown field", `{"kind":"bye","rank":0,"x":1}`, "unknown field"},
		{"unknown kind", `{"kind":"nonsense","rank":0}`, `unknown kind "nonsense"`},
		{"no kind", `{}`, `unknown kind ""`},
		{"negative rank", `{"kind":"kill","rank":-1}`, "negative"},
		{"rank too large for a number", `{"kind":"kill","rank":99999999999999999999}`, "malformed"},
		{"rank is text", `{"kind":"kill","rank":"1"}`, "malformed"},
		{"negative beat", `{"kind":"hello","rank":0,"beat":-1}`, "negative"},
		{"value is not base64", `{"kind":"put","rank":0,"name":"x","value":"?"}`, "malformed"},
		{"no name", `{"kind":"fence","rank":0}`, "1 to 256 bytes"},
		{"long name", `{"kind":"fenced","rank":0,"name":"` + strings.Repeat("n", 257) + `"}`, "257 bytes"},
		{"long reason", `{"kind":"gone","rank":0,"reason":"` + strings.Repeat("r", 1025) + `"}`, "1025 bytes"},
		{"long word", `{"kind":"fence","rank":0,"name":"x","word":"` + strings.Repeat("w", 1025) + `"}`, "at most 1024 bytes"},
		{"get without name", `{"kind":"get","rank":0}`, "1 to 256 bytes"},
		{"put without name", `{"kind":"put","rank":0,"value":"dg=="}`, "1 to 256 bytes"},
		{"old version", `{"kind":"hello","version":0,"job":"j","rank":0,"size":1}`, "protocol version 0; this side speaks version 6"},
		{"new version", `{"kind":"hello","version":7,"job":"j","rank":0,"size":1}`, "protocol version 7"},
		{"negative rank beside", `{"kind":"gone","rank":0,"also":[1,-1]}`, "negative rank"},
		{"no job", `{"kind":"hello","version":6,"rank":0,"size":1}`, "job id"},
		{"job is a path", `{"kind":"hello","version":6,"job":"../x","rank":0,"size":1}`, `character '.'`},
		{"rank beyond size", `{"kind":"hello","version":6,"job":"j","rank":1,"size":1}`, "rank 1 of a job of 1"},
		{"no size", `{"kind":"hello","version":6,"job":"j","rank":0}`, "job of 0"},
	}
	for _, c := range cases {
		if m, err := decode([]byte(c.line)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", c.name, m, err, c.want)
		}
	}
}

func TestReasonsAreMadeToFit(t *testing.T) {
	for _, reason := range []string{strings.Repeat("r", 5000), "bad \xff bytes", strings.Repeat("\xff", 5000), strings.Repeat("ä", 600)} {
		line, err := encode(message{Kind: kindError, Reason: reason})
		if err != nil {
			t.Errorf("%.10q: %v", reason, err)
			continue
		}
		if _, err := decode(line[:len(line)-1]); err != nil {
			t.Errorf("%.10q: %v", reason, err)
		}
	}
}

// FuzzDecode checks that no line makes decode panic, and that what it accepts
// survives another trip.
func FuzzDecode(f *testing.F) {
	for _, m := range []message{
		{Kind: kindHello, Version: 6, Job: "job", Size: 1},
		{Kind: kindPut, Name: "x", Value: []byte("v")},
		{Kind: kindFence, Name: "x", Word: "w"},
		{Kind: kindGone, Rank: 3, Left: true, Reason: "r"},
	} {
		line, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := decode(line)
		if err != nil {
			return
		}
		again, err := encode(m)
		if err != nil {
			t.Fatalf("%q decodes to %+v, which does not encode: %v", line, m, err)
		}
		back, err := decode(again[:len(again)-1])
		if err != nil {
			t.Fatalf("%q: %v", again, err)
		}
		if !reflect.DeepEqual(normal(m), normal(back)) {
			t.Errorf("%+v became %+v", m, back)
		}
	})
}

// normal removes differences that mean nothing: no bytes, and no list of them.
func normal(m message) message {
	if len(m.Value) == 0 {
		m.Value = nil
	}
	return m
}
