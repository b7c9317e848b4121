package model

import (
	"context"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// tuneMemory finds out how large vectors may be to stay in the caches, and how fast
// memory is beyond, by the bare allreduce of vectors that double.
func (b *Tuner) tuneMemory(ctx context.Context, m *price.Machine) error {
	var sizes []uint64
	for n := uint64(256 << 10); n < slices.Max(b.sizes); n *= 2 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, slices.Max(b.sizes))
	var rates []float64
	for _, n := range sizes {
		seconds, err := b.bareAllReduce(ctx, n, false)
		if err != nil {
			return err
		}
		rates = append(rates, memoryTraffic*float64(n)/seconds)
	}
	m.Memory, m.Cache = beyond(sizes, rates)
	n := slices.Max(sizes)
	seconds, err := b.bareAllReduce(ctx, n, true)
	if err != nil {
		return err
	}
	m.CoreMemory = memoryTraffic * float64(n) / seconds
	m.Memory = max(m.Memory, m.CoreMemory)
	return nil
}

// memoryTraffic is the bytes that are read and written in an allreduce of a byte by
// two ranks: it is read from two and written to two.
const memoryTraffic = 4

// beyond is the rate of the largest vectors, and the bytes of two vectors up to
// which the rate is nearer to that of the fastest; all of them if it never
// falls much.
func beyond(sizes []uint64, rates []float64) (memory float64, cache int) {
	memory = rates[len(rates)-1]
	between := math.Sqrt(memory * slices.Max(rates))
	for i, n := range sizes {
		if rates[i] >= between {
			cache = int(2 * n)
		}
	}
	return memory, cache
}

// bareAllReduce is how long the limit of an allreduce of n bytes takes, in seconds;
// or the same done by rank 0 alone.
func (b *Tuner) bareAllReduce(ctx context.Context, n uint64, alone bool) (float64, error) {
	c := b.call
	s := c.Shape(2, n)
	k, err := c.Open(ctx, b.P, s)
	if err != nil {
		return 0, err
	}
	bare, err := c.BareWay(ctx, b.Bench, s, k)
	if err != nil {
		return 0, err
	}
	if alone {
		f, err := c.Folds()
		if err != nil {
			return 0, err
		}
		if bare, err = b.Alone(s, k.Own, f); err != nil {
			return 0, err
		}
	}
	seconds, err := b.seconds(ctx, "memory", 1, measure.Repeat(ctx, bare))
	if err != nil {
		return 0, err
	}
	b.Forget()
	return seconds, k.Release(ctx)
}
