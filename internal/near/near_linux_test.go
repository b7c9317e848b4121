package near

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// as runs f as another user, on a thread of its own that ends with it.
func as(t *testing.T, user int, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(user), ^uintptr(0))
		if errno == 0 {
			f()
		}
		done <- os.NewSyscallError("setresuid", errnoError(errno))
	}()
	if err := <-done; err != nil {
		testenv.Lack(t, "a thread cannot become another user: "+err.Error())
	}
}

func errnoError(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// otherUser returns a user that this process is not.
func otherUser() int {
	if os.Geteuid() == 65534 {
		return 65533
	}
	return 65534
}

// own names a socket of this test.
func own(t *testing.T) string { return Name("test", fmt.Sprint(t.Name(), os.Getpid())) }

func TestAwait(t *testing.T) {
	name := own(t)
	told := make(chan string)
	go func() {
		text, err := Await(testenv.Context(t), name)
		told <- fmt.Sprint(text, " ", err)
	}()
	l, err := Listen(name)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		Serve(l, func() string { return "a text" })
	}()
	if got := <-told; got != "a text <nil>" {
		t.Error(got)
	}
	if _, err := Listen(name); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("%v, want that the name is taken", err)
	}
	l.Close()
	<-served
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if text, err := Await(ctx, name); text != "" || err == nil {
		t.Errorf("%q, %v at a closed socket", text, err)
	}
}

// TestAnotherUserAtTheSocket takes the name first, and comes to ask.
func TestAnotherUserAtTheSocket(t *testing.T) {
	name := own(t)
	var l net.Listener
	as(t, otherUser(), func() {
		var err error
		if l, err = Listen(name); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	defer l.Close()
	if text, err := Await(testenv.Context(t), name); !errors.Is(err, ErrStranger) || !strings.Contains(err.Error(), fmt.Sprintf("user %d", otherUser())) {
		t.Errorf("%q, %v, want that another user is there", text, err)
	}

	ours, err := Listen(name + "-ours")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		Serve(ours, func() string { return "a text" })
	}()
	var text []byte
	as(t, otherUser(), func() {
		conn, err := net.Dial("unix", ours.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		text = make([]byte, 64)
		n, _ := conn.Read(text)
		text = text[:n]
	})
	if len(text) > 0 {
		t.Errorf("another user was told %q", text)
	}
	if text, err := Await(testenv.Context(t), ours.Addr().String()); err != nil || text != "a text" {
		t.Errorf("the own user was told %q, %v", text, err)
	}
	ours.Close()
	<-served
}
