package notify

import (
	"context"
	"testing"
)

// BenchmarkHit is a wait for one notification that is there, and a post.
func BenchmarkHit(b *testing.B) {
	board := NewBoard(make([]byte, Bytes(64)), 64, AmongGoroutines(0, 0))
	board.Post(3, 7)
	ctx := context.Background()
	b.Run("wait", func(b *testing.B) {
		for b.Loop() {
			if _, err := board.Wait(ctx, Until(3, Equal, 7), nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("some", func(b *testing.B) {
		for b.Loop() {
			if _, err := board.Wait(ctx, Some(0, 8), nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("post", func(b *testing.B) {
		for b.Loop() {
			board.Post(3, 7)
		}
	})
	b.Run("reset", func(b *testing.B) {
		for b.Loop() {
			board.Post(3, 7)
			if v, _ := board.Reset(3); v != 7 {
				b.Fatal(v)
			}
		}
	})
}
