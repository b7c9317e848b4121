package model

import (
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
)

// A Tuner is one rank of tune or predict.
type Tuner struct {
	*measure.Bench
	call  collective.Spec // what tune works on
	sizes []uint64
}

// NewTuner makes a tuner for vectors of these sizes in bytes. Predict needs no call.
func NewTuner(b *measure.Bench, call collective.Spec, sizes []uint64) *Tuner {
	return &Tuner{Bench: b, call: call, sizes: sizes}
}
