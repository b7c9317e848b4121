package segment

import "github.com/gaspi-go/gaspi-go/internal/sys/cpu"

// Expect says that the caller is about to write to the beginning of mem, which
// another core has used: its cache line is fetched while the caller goes on. It is
// a hint, and mem may be empty.
func Expect(mem []byte) {
	if len(mem) > 0 {
		cpu.Prefetch(&mem[0])
	}
}
