package main

import (
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A machine is one set of vector instructions.
type machine struct {
	name  string // as in the names of functions and levels
	width int    // bytes in a vector
	wide  bool   // AVX-512 rather than AVX2
}

var machines = []machine{
	{name: "AVX2", width: 32},
	{name: "AVX512", width: 64, wide: true},
}

// kernels returns those of list that the machine can run well.
func (m machine) kernels() []kernel {
	all := list()
	if m.wide {
		return all
	}
	return slices.DeleteFunc(all, func(k kernel) bool { return k.wideOnly })
}

// A kernel is one operation on one element layout; several kinds share it where
// the bits of the result do not depend on how the element is read.
type kernel struct {
	op       string
	kinds    []string
	size     int  // bytes in an element
	wideOnly bool // no good instruction before AVX-512
	fold     bool // also for four sources
	unroll   int  // vectors in one round of the main loop; 4 if zero
	// combine emits r = x op y. It may overwrite x and y.
	combine func(c *context, x, y reg.VecVirtual) reg.VecVirtual
	// finish, if not nil, changes the last result of a vector: what need not be
	// done between one operation and the next.
	finish func(c *context, r reg.VecVirtual)
	// fromMemory, if not nil, stands for the loads and combine.
	fromMemory func(c *context, a, b operand.Mem) reg.VecVirtual
}

// function returns the name of the assembly function.
func (k kernel) function(m machine) string {
	kind := k.kinds[0]
	if len(k.kinds) > 2 {
		kind = "Bits"
	}
	return strings.ToLower(k.op) + kind + m.name
}

// A context is what the instructions of one function share.
type context struct {
	m machine
	// constants are filled where they are first used, which is before the loop.
	constants map[string]reg.VecVirtual
}

func (c *context) vector() reg.VecVirtual {
	if c.m.wide {
		return ZMM()
	}
	return YMM()
}

// An instruction of three operands: r = x op y, in the assembler's order y, x, r.
type instruction func(ops ...operand.Op)

// two, three and four turn instructions without masked forms, which the
// assembler declares with exactly their operands, into the common type.
func two(f func(a, b operand.Op)) instruction {
	return func(ops ...operand.Op) { f(ops[0], ops[1]) }
}

func three(f func(a, b, c operand.Op)) instruction {
	return func(ops ...operand.Op) { f(ops[0], ops[1], ops[2]) }
}

func four(f func(a, b, c, d operand.Op)) instruction {
	return func(ops ...operand.Op) { f(ops[0], ops[1], ops[2], ops[3]) }
}

// plain is a combine of a single instruction.
func plain(f instruction) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		f(y, x, x)
		return x
	}
}
