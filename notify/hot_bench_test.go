package notify

import (
	"context"
	"testing"
)

// BenchmarkHit is a wait for one notification that is there, and a post.
func BenchmarkHit(b *testing.B) {
	array := NewArray(make([]byte, Bytes(64)), 64, GoroutineWait(0, 0))
	array.Set(3, 7)
	ctx := context.Background()
	b.Run("wait", func(b *testing.B) {
		for b.Loop() {
			if _, err := array.Wait(ctx, Until(3, Equal, 7), nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("some", func(b *testing.B) {
		for b.Loop() {
			if _, err := array.Wait(ctx, Some(0, 8), nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("post", func(b *testing.B) {
		for b.Loop() {
			array.Set(3, 7)
		}
	})
	b.Run("reset", func(b *testing.B) {
		for b.Loop() {
			array.Set(3, 7)
			if v, _ := array.Reset(3); v != 7 {
				b.Fatal(v)
			}
		}
	})
}
