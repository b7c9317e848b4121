package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// askAhead is by how many bytes a line is asked for before it is needed: longer
// than it takes to come from another core, and no more lines than a core has on
// their way at a time.
const askAhead = 1 << 10

// cacheLine is the bytes of one.
const cacheLine = 64

// ask emits a request, for writing, of the lines of n bytes ahead of p.
func ask(p reg.Register, n int) {
	LEAQ(operand.Mem{Base: p, Disp: askAhead + n/2}, reg.RAX)
	for disp := -n / 2; disp < n/2; disp += cacheLine {
		prefetchForWriting(int8(disp))
	}
}

// prefetchForWriting emits PREFETCHW disp(AX), which neither the generator nor the
// assembler knows. It does nothing on processors that have no such instruction.
func prefetchForWriting(disp int8) {
	const axAndByte = 0x48
	for _, b := range []byte{0x0F, 0x0D, axAndByte, byte(disp)} {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(b)}, Inputs: []operand.Op{reg.RAX}})
	}
}
