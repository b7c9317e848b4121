package tcp

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
)

// examples are the frames of testdata/frames.txt.
func examples() map[string]frame {
	noted := func(f frame, n transport.Flag, generation uint64) frame {
		f.setFlag(n, generation)
		return f
	}
	return map[string]frame{
		"put":              {kind: kindPut, number: 2, length: 4096, segment: 1, generation: 5, offset: 65536},
		"put and notify":   noted(frame{kind: kindPut, number: 2, length: 8, segment: 1, generation: 5, offset: 64}, transport.Flag{Segment: 3, ID: 7, Value: 9}, 6),
		"notify":           noted(frame{kind: kindNotify, number: 2}, transport.Flag{Segment: 1, ID: 7, Value: 0xfffffffe}, 5),
		"put, asking":      {kind: kindPut, flags: flagAck, number: 2, length: 8, segment: 1, generation: 5, offset: 64},
		"notify, asking":   noted(frame{kind: kindNotify, flags: flagAck, number: 2}, transport.Flag{Segment: 1, ID: 7, Value: 9}, 5),
		"notify by adding": noted(frame{kind: kindNotify, number: 2}, transport.Flag{Segment: 1, ID: 65535, Value: 1, Add: true}, 5),
		"get":              {kind: kindGet, number: 17, length: 1 << 20, segment: 1, generation: 5, offset: 8},
		"data, first":      {kind: kindData, number: 17, length: 1 << 18},
		"data, last":       {kind: kindData, flags: flagLast, number: 17, length: 1 << 18, offset: 3 << 18},
		"compare and swap": {kind: kindAtomic, code: uint8(transport.CompareSwap), number: 18, segment: 1, generation: 5, offset: 24, a: 42, b: 41},
		"flush":            {kind: kindFlush, number: 19},
		"attach":           {kind: kindAttach, number: 20, segment: 1},
		"result":           {kind: kindResult, number: 18, a: 41},
		"attached":         {kind: kindAttached, number: 20, segment: 1, generation: 5, offset: 1 << 20, a: 65536},
		"put refused":      {kind: kindRefused, flags: flagPosted, code: uint8(remote.RefusedSegment), number: 2, segment: 1, generation: 5},
		"atomic refused":   {kind: kindRefused, code: uint8(remote.RefusedUnaligned), number: 18, segment: 1, generation: 5},
		"withdrawn":        {kind: kindWithdrawn, segment: 1, generation: 5},
		"bye":              {kind: kindBye},
		"ready":            {kind: kindReady},
	}
}

// documented are the frames of testdata/frames.txt, to which WIRE.md refers: "name: bytes",
// eight to a group.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/frames.txt")
	ok(t, err)
	got := map[string]string{}
	name := ""
	for line := range strings.Lines(string(text)) {
		if before, after, is := strings.Cut(line, ":"); is {
			name, line = before, after
		}
		got[name] += strings.Join(strings.Fields(line), "")
	}
	return got
}

func TestDocumentedFramesAreThoseOfTheCode(t *testing.T) {
	want := map[string]string{}
	for name, f := range examples() {
		var h [headSize]byte
		f.put(&h)
		want[name] = hex.EncodeToString(h[:])
		back, err := parse(&h)
		if err != nil || back != f {
			t.Errorf("%s: read back as %+v, %v", name, back, err)
		}
	}
	if diff := cmp.Diff(want, documented(t)); diff != "" {
		t.Errorf("testdata/frames.txt and the code (-code +file):\n%s", diff)
	}
}
