//go:build !race

package transport

import "github.com/gaspi-go/gaspi-go/segment"

// CopyForPeer copies src to dst, which are equally long, for a rank of another process.
func CopyForPeer(dst, src []byte) { segment.Copy(dst, src) }
