// Package posts numbers the posts of a notification. A notification that several calls post
// one after the other holds the number of the last post, so that it never needs to be reset, and
// who waits for a post knows its value beforehand.
//
// Packages executor and agreement use it; it is pure.
package posts

import "github.com/gaspi-go/gaspi-go/gaspi"

// Value returns the value that a notification has after its n-th post. It is odd, so that it is
// never 0 when the count wraps around.
func Value(n uint32) gaspi.Value { return gaspi.Value(2*n + 1) }

// Reached reports whether a notification that has the value v has been posted as often as
// one that has the value want. Both may have wrapped around.
func Reached(v, want gaspi.Value) bool { return int32(v-want) >= 0 }
