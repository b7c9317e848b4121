package limit

import (
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// Folds are an operation on vectors: the fold of some, and that of two stored twice.
type Folds struct {
	Fold  reduce.Fold
	twice reduce.Twice
}

// FoldsOf returns the folds of an operation on elements of a type. It fails if the operation
// is not defined for them.
func FoldsOf[T reduce.Element](op collectives.Op) (Folds, error) {
	fold, err := reduce.FoldOf[T](op)
	if err != nil {
		return Folds{}, err
	}
	twice, err := reduce.TwiceOf[T](op)
	return Folds{fold, twice}, err
}

// NoFolds returns the folds of --no-op, which combine nothing.
func NoFolds() Folds {
	return Folds{func([]byte, [][]byte) {}, func(dst, back, _, _ []byte) { copy(back, dst) }}
}
