package element

import (
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// kernels makes the kernels of one type of elements.
type kernels interface {
	folds(op datatype.Op) (executor.Folds, error)
	quotient() func(vector []byte, by int)
}

// kernelsOf is the kernels of T.
type kernelsOf[T datatype.Element] struct{}

func (kernelsOf[T]) folds(op datatype.Op) (executor.Folds, error) {
	two, err := reduce.KernelOf[T](op)
	if err != nil {
		return executor.Folds{}, err
	}
	many, err := reduce.FoldOf[T](op)
	if err != nil {
		return executor.Folds{}, err
	}
	twice, err := reduce.TwiceOf[T](op)
	return executor.Folds{Two: two, Many: many, Twice: twice}, err
}

func (kernelsOf[T]) quotient() func(vector []byte, by int) {
	switch any(*new(T)).(type) {
	case float32:
		return func(v []byte, by int) {
			divideAll(reduce.Of[float32](v), func(x float32) float32 { return x / float32(by) })
		}
	case float64:
		return func(v []byte, by int) {
			divideAll(reduce.Of[float64](v), func(x float64) float64 { return x / float64(by) })
		}
	case datatype.Float16:
		return func(v []byte, by int) {
			divideAll(reduce.Of[datatype.Float16](v), func(x datatype.Float16) datatype.Float16 { return datatype.ToFloat16(x.Float32() / float32(by)) })
		}
	case datatype.BFloat16:
		return func(v []byte, by int) {
			divideAll(reduce.Of[datatype.BFloat16](v), func(x datatype.BFloat16) datatype.BFloat16 { return datatype.ToBFloat16(x.Float32() / float32(by)) })
		}
	}
	return nil
}

func divideAll[T any](v []T, divided func(T) T) {
	for i, x := range v {
		v[i] = divided(x)
	}
}
