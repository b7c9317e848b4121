package testenv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestGate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate")
	g := NewGate(t, path)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := AwaitGate(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("closed, and the context has ended: %v, want %v", err, context.Canceled)
	}
	passed := make(chan error)
	for range 3 {
		go func() { passed <- AwaitGate(t.Context(), path) }()
	}
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-passed; err != nil {
			t.Error(err)
		}
	}
	if err := AwaitGate(ended, path); err != nil {
		t.Errorf("open: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that the pipe is gone", err)
	}
	if err := g.Open(); err != nil {
		t.Errorf("opened again: %v", err)
	}
}
