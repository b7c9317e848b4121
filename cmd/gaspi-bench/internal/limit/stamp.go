package limit

import (
	"encoding/binary"
	"fmt"
)

// Stamp writes v at both ends of a message, so that its receiver can tell
// whether all of it is there.
func Stamp(msg []byte, v uint32) {
	if len(msg) < 8 {
		for i := range msg {
			msg[i] = shortByte(v, i)
		}
		return
	}
	binary.LittleEndian.PutUint32(msg, v)
	binary.LittleEndian.PutUint32(msg[len(msg)-4:], v)
}

// Verify checks what stamp wrote.
func Verify(msg []byte, v uint32) error {
	if len(msg) < 8 {
		for i := range msg {
			if want := shortByte(v, i); msg[i] != want {
				return fmt.Errorf("message %d arrived with byte %d being %#x, want %#x", v, i, msg[i], want)
			}
		}
		return nil
	}
	head, tail := binary.LittleEndian.Uint32(msg), binary.LittleEndian.Uint32(msg[len(msg)-4:])
	if head != v || tail != v {
		return fmt.Errorf("message %d arrived with number %d at its start and %d at its end", v, head, tail)
	}
	return nil
}

// shortByte is byte i of a message too short for two numbers.
func shortByte(v uint32, i int) byte { return byte(v >> (8 * (i % 4))) }
