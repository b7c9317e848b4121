package collectives

import (
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

func TestCodedElements(t *testing.T) {
	type celsius float32
	var got []codec.Number
	for _, e := range []elementType{combinable[float32](), combinable[float64](), combinable[reduce.Float16](), combinable[reduce.BFloat16](),
		combinable[uint16](), combinable[complex64](), movable[celsius](), movable[[2]float32]()} {
		got = append(got, e.coded().Number)
	}
	want := []codec.Number{codec.Float32, codec.Float64, codec.Float16, codec.BFloat16, codec.Opaque, codec.Opaque, codec.Float32, codec.Opaque}
	if !slices.Equal(got, want) {
		t.Errorf("elements are %v, want %v", got, want)
	}
}
