package core

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodec(t *testing.T) {
	full := Message{
		Kind: Job, Code: Lost, Flags: FlagOnce, Op: 1, Rank: NoRank, Slot: 3, Seq: 4, Gen: 5, Token: 6, Sum: 7,
		Size: 8 << 40, From: 9, Off: 10, Ref: 11, Copy: 24, Own: 25, Stream: Stream{12, 13, 14, 15}, NumIns: 2,
		Ins: [2]In{{16, 17, 18}, {NoRank, 20, 21}}, NumRanks: 2, NumComplete: 1,
		Ranks: [MaxRanks]Rank{22, 23}, ID: "weights/17", Data: []byte{1, 2, 3},
	}
	for _, m := range []Message{full, {Kind: PutReq}, {Kind: JobEnd, ID: "x"}, {Kind: Data, Data: []byte{0}}} {
		b := m.Append(nil)
		if len(b) != HeaderSize+len(m.ID)+len(m.Data) {
			t.Fatalf("%d bytes, want %d", len(b), HeaderSize+len(m.ID)+len(m.Data))
		}
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Error(d)
		}
		for n := range len(b) {
			if _, err := Decode(b[:n]); err == nil {
				t.Errorf("accepted the first %d bytes of %d", n, len(b))
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Message{Kind: Pull, ID: "a", Rank: 3, Size: 4}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		if again := m.Append(nil); !bytes.Equal(b, again) {
			t.Errorf("% x\nbecame\n% x", b, again)
		}
	})
}
