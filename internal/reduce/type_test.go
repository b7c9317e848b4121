package reduce_test

import (
	"reflect"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

func TestTypeWordsTellTypesApart(t *testing.T) {
	type length float64
	words := []uintptr{
		reduce.TypeWord[float64](), reduce.TypeWord[length](), reduce.TypeWord[int64](),
		reduce.TypeWord[byte](), reduce.TypeWord[struct{ a, b int32 }](),
	}
	for i, w := range words {
		for _, other := range words[:i] {
			if w == other {
				t.Errorf("word %d is that of another type", i)
			}
		}
	}
	for what, pair := range map[string][2]uintptr{
		"float64":        {reduce.TypeWord[float64](), reduce.TypeWordOf(reflect.TypeOf(1.5))},
		"a named type":   {reduce.TypeWord[length](), reduce.TypeWordOf(reflect.TypeOf(length(1)))},
		"the same alias": {reduce.TypeWord[byte](), reduce.TypeWord[uint8]()},
	} {
		if pair[0] != pair[1] {
			t.Errorf("two words of one type: %s", what)
		}
	}
}

// Of takes whole elements where they may lie, and empty memory anywhere.
func TestOf(t *testing.T) {
	mem := reduce.BytesOf([]uint64{1, 2, 3})
	if got := reduce.Of[uint64](mem[8:]); len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("%v, want 2 and 3", got)
	}
	if got := reduce.Of[uint64](mem[21:21]); got == nil || len(got) != 0 {
		t.Errorf("empty memory: %#v", got)
	}
	if got := reduce.Of[uint64](nil); got != nil {
		t.Errorf("no memory: %#v", got)
	}
	for _, bad := range [][]byte{mem[:9], mem[1:9]} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bytes at %p are taken for elements of 8", len(bad), bad)
				}
			}()
			reduce.Of[uint64](bad)
		}()
	}
}
