package memory

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// TestMemoryFile: two mappings of a memory file see the same bytes, and zeros after a Discard.
func TestMemoryFile(t *testing.T) {
	const size = 3<<20 + 4096
	fd, err := Create("test", size)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := sys.FileSize(fd); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	a, err := Map(fd, size)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Map(fd, size)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		a[i] = byte(i*7 + 1)
	}
	if !bytes.Equal(a, b) {
		t.Error("the mappings differ")
	}
	if err := Discard(fd, size); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(b, make([]byte, size)) {
		t.Error("not all is zero after Discard")
	}
	if err := errors.Join(Unmap(a), sys.CloseFile(fd), Unmap(b)); err != nil {
		t.Error(err)
	}
}
