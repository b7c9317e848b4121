package schedule

import "testing"

// TestDepthOf tests bounds and powers of two.
func TestDepthOf(t *testing.T) {
	for _, c := range []struct {
		slots, bytes, mostSlots, mostBytes int
		want                               Depth
	}{
		{1, 8, 1024, 128 << 10, Depth{256, 128}},
		{1, 512, 1024, 128 << 10, Depth{256, 128}},
		{1, 512 + 1, 1024, 128 << 10, Depth{128, 64}},
		{1, 1 << 20, 1024, 128 << 10, Depth{2, 1}},
		{17, 64, 1024, 128 << 10, Depth{32, 16}},
		{2000, 64, 1024, 128 << 10, Depth{2, 1}},
		{3, 0, 16, 0, Depth{4, 2}},
		{0, 0, 0, 0, Depth{256, 128}},
	} {
		if got := DepthOf(c.slots, c.bytes, c.mostSlots, c.mostBytes); got != c.want {
			t.Errorf("%d slots of %d and %d bytes of %d: %+v, want %+v", c.slots, c.mostSlots, c.bytes, c.mostBytes, got, c.want)
		}
	}
}

// TestDepthKeepsCopies follows a writer and a reader over many runs: the writer never uses a copy
// that may still be read, waits for no credit that the reader cannot have given, and gets as far ahead
// as the comment says.
func TestDepthKeepsCopies(t *testing.T) {
	for _, d := range []Depth{{2, 1}, {2, 2}, {3, 1}, {4, 2}, {6, 2}, {6, 3}, {16, 4}, {256, 64}, {256, 128}} {
		read, given := 0, 0 // runs that the reader has ended, and its credits
		least, most := d.Copies, 0
		for run := range 5 * d.Copies {
			if n, waits := d.Awaits(run); waits {
				for ; given < n; read++ {
					if read == run {
						t.Fatalf("%+v: run %d awaits credit %d, which needs itself", d, run, n)
					}
					if d.Credits(read) {
						given++
					}
				}
				least = min(least, run-read)
			}
			if run-read >= d.Copies {
				t.Fatalf("%+v: run %d uses copy %d, which run %d may still read", d, run, d.Copy(run), read)
			}
			most = max(most, run-read+1)
		}
		if least != d.Copies-d.Batch || most != d.Copies {
			t.Errorf("%+v: from %d to %d runs ahead, want %d to %d", d, least, most, d.Copies-d.Batch, d.Copies)
		}
	}
}
