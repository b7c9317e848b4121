package limit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Goal: values are never 0, which means "not set", and neighbours differ, also
// where the number wraps.
func TestCounterWraps(t *testing.T) {
	c := Counter{n: 1<<32 - 4}
	var got []uint32
	for range 5 {
		got = append(got, c.Next())
	}
	want := []uint32{1<<32 - 2, 1<<32 - 1, 1, 2, 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestStampIsVerified(t *testing.T) {
	const v = 0x01020304
	for size := range 20 {
		msg := make([]byte, size)
		Stamp(msg, v)
		if err := Verify(msg, v); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if size == 0 {
			continue
		}
		if err := Verify(msg, v+0x01010101); err == nil {
			t.Errorf("%d bytes: the next message would pass for this one", size)
		}
		for _, at := range []int{0, size - 1} {
			Stamp(msg, v)
			msg[at] ^= 0x80
			if err := Verify(msg, v); err == nil {
				t.Errorf("%d bytes: a wrong byte %d was not noticed", size, at)
			}
		}
	}
}
