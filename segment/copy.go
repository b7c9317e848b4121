package segment

import "github.com/gaspi-go/gaspi-go/internal/sys/cpu"

const (
	// shortest is the least number of bytes for which Copy looks for a quicker way than the built-in copy.
	shortest = 8 << 10
	// A piece is copied at a time. From about 1 MiB on the built-in copy writes past the caches on
	// amd64, which takes up to four times as long as writing through them: of 2 MiB 0.69 ms instead of
	// 0.18, of 32 MiB 12.3 instead of 7.1 (go test ./segment -bench Copy, Xeon 2.5 GHz). Stores of our
	// own that go past the caches were in between, and what they wrote was not in the cache for whoever
	// reads it. A string move keeps the garbage collector waiting until it ends.
	piece = 256 << 10
)

// Copy is copy(dst, src) that is as fast for long slices as for short ones, also where another core
// has read dst. The two must not overlap.
func Copy(dst, src []byte) {
	if len(src) < shortest {
		copy(dst, src)
		return
	}
	copyLong(dst, src)
}

func copyLong(dst, src []byte) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	moves := cpu.Moves(dst, src)
	for ; len(src) > 0; dst, src = dst[min(piece, len(dst)):], src[min(piece, len(src)):] {
		if to, from := dst[:min(piece, len(dst))], src[:min(piece, len(src))]; moves {
			cpu.Move(to, from)
		} else {
			copy(to, from)
		}
	}
}
