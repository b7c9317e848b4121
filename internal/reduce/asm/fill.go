package main

import (
	"sync"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A fill is a constant that is repeated over a whole vector.
type fill struct {
	name      string
	broadcast instruction
	data      func() operand.Mem
}

func fill32(name string, broadcast instruction, v uint32) fill {
	return fill{name, broadcast, sync.OnceValue(func() operand.Mem { return ConstData(name, operand.U32(v)) })}
}

func fill64(name string, broadcast instruction, v uint64) fill {
	return fill{name, broadcast, sync.OnceValue(func() operand.Mem { return ConstData(name, operand.U64(v)) })}
}

// fill128 repeats v and then eight zero bytes.
func fill128(name string, broadcast instruction, v uint64) fill {
	return fill{name, broadcast, sync.OnceValue(func() operand.Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		DATA(0, operand.U64(v))
		DATA(8, operand.U64(0))
		return m
	})}
}

// filled returns the vector of f, which stays in its register from the first
// use of it in a function to the end.
func (c *context) filled(f fill) reg.VecVirtual {
	if v, ok := c.constants[f.name]; ok {
		return v
	}
	v := c.vector()
	f.broadcast(f.data(), v)
	c.constants[f.name] = v
	return v
}

// signs64 returns a vector with the top bit of every 64-bit element set, made
// without memory.
func (c *context) signs64() reg.VecVirtual {
	const name = "signs64"
	if v, ok := c.constants[name]; ok {
		return v
	}
	v := c.vector()
	VPCMPEQQ(v, v, v)
	VPSLLQ(operand.U8(63), v, v)
	c.constants[name] = v
	return v
}
