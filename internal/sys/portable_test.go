//go:build !linux || portable

package sys

import (
	"bytes"
	"errors"
	"testing"
)

// TestMemoryFile: two mappings of a memory file see the same bytes, and zeros after a Discard.
func TestMemoryFile(t *testing.T) {
	const size = 3<<20 + 4096
	fd, err := CreateMemory("test", size)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := FileSize(fd); n != size || err != nil {
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
	if err := errors.Join(Unmap(a), CloseFile(fd), Unmap(b)); err != nil {
		t.Error(err)
	}
}

// TestOnlyLinux: what other systems lack is an error that says so.
func TestOnlyLinux(t *testing.T) {
	_, poller := NewPoller()
	_, alarm := NewAlarm()
	_, exit := WatchExits()
	_, file := OpenPeerFile(1, 1)
	_, program := CreateProgramFile("x")
	for name, err := range map[string]error{
		"poller": poller, "alarm": alarm, "exit": exit, "file": file, "program": program, "cores": SetThreadCores(nil), "orphans": AdoptOrphans(),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
