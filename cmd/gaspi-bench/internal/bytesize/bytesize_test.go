package bytesize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseList(t *testing.T) {
	for _, c := range []struct {
		text string
		want []uint64
	}{
		{"8", []uint64{8}},
		{"1", []uint64{1}},
		{"8,1KiB", []uint64{8, 1024}},
		{"12B,3MiB,1GiB", []uint64{12, 3 << 20, 1 << 30}},
		{"8:64", []uint64{8, 16, 32, 64}},
		{"1:4", []uint64{1, 2, 4}},
		{"3:9", []uint64{4, 8}},
		{"512:2KiB,8", []uint64{512, 1024, 2048, 8}},
		{"64:64", []uint64{64}},
		{"512MiB:1GiB", []uint64{512 << 20, 1 << 30}},
	} {
		got, err := ParseList(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestParseListRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `"" is no size`},
		{"8,", `"" is no size`},
		{"-8", `"-8" is no size`},
		{"1.5KiB", `"1.5KiB" is no size`},
		{"KiB", `"KiB" is no size`},
		{"8kb", `"8kb" is no size`},
		{"0", `"0" is out of range`},
		{"0MiB", `"0MiB" is out of range`},
		{"1073741825", "is out of range; sizes go from 1 byte to 1GiB"},
		{"99999999999GiB", "is out of range"},
		{"8:", `"" is no size`},
		{"64:8", "no power of two from 64 to 8"},
		{"9:15", "no power of two from 9 to 15"},
		{"8:16:32", `"16:32" is no size`},
	} {
		got, err := ParseList(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, %v; want an error with %q", c.text, got, err, c.want)
		}
	}
}

// Goal: what is printed can be given back.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		want string
	}{{1, "1"}, {8, "8"}, {1023, "1023"}, {1024, "1KiB"}, {1536, "1536"}, {3 << 20, "3MiB"}, {1 << 30, "1GiB"}} {
		got := Format(c.n)
		if got != c.want {
			t.Errorf("%d: %q, want %q", c.n, got, c.want)
		}
		if back, err := Parse(got); err != nil || back != c.n {
			t.Errorf("%q reads as %d, %v; want %d", got, back, err, c.n)
		}
	}
}
