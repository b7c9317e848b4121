package testenv

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Gate holds processes of a test back until the test opens it. It is a named pipe that no
// byte goes through: the test holds its writing end, and readers wait for the end of the file.
type Gate struct {
	// Open lets all processes pass, those that wait and those that come later. The test ends
	// with it at the latest. Calls after the first have no effect.
	Open func() error
}

// NewGate makes a gate that is closed, at a path that does not exist yet.
func NewGate(t testing.TB, path string) *Gate {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatalf("mkfifo %s: %v", path, err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // for reading too, or it would wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	g := &Gate{Open: sync.OnceValue(func() error { return errors.Join(os.Remove(path), pipe.Close()) })}
	t.Cleanup(func() {
		if err := g.Open(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// AwaitGate blocks until the gate at path is open, or ctx ends. A path that does not exist is
// a gate that is open.
func AwaitGate(ctx context.Context, path string) error {
	pipe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer pipe.Close()
	stop := context.AfterFunc(ctx, func() { _ = pipe.SetReadDeadline(time.Unix(0, 1)) })
	defer stop()
	_, err = io.Copy(io.Discard, pipe)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
