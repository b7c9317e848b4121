package element

import (
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
)

func TestCodedElements(t *testing.T) {
	type celsius float32
	var got []codec.Number
	for _, e := range []Type{Combinable[float32](), Combinable[float64](), Combinable[datatype.Float16](), Combinable[datatype.BFloat16](),
		Combinable[uint16](), Combinable[complex64](), Movable[celsius](), Movable[[2]float32]()} {
		got = append(got, e.Coded().Number)
	}
	want := []codec.Number{codec.Float32, codec.Float64, codec.Float16, codec.BFloat16, codec.Opaque, codec.Opaque, codec.Float32, codec.Opaque}
	if !slices.Equal(got, want) {
		t.Errorf("elements are %v, want %v", got, want)
	}
}
