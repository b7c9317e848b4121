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
