package boot

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestAnotherUserAtTheSocket takes the name first, and comes to ask.
func TestAnotherUserAtTheSocket(t *testing.T) {
	p := networkPlan{info: Info{Rank: 1, Size: 2}, meeting: meeting{patience: time.Hour}}
	name := socketName("test", NewJobID())
	var l net.Listener
	as(t, otherUser(), func() {
		var err error
		if l, err = listenNear(name); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	defer l.Close()
	if _, err := p.hearSocket(testenv.Context(t), name); !errors.Is(err, errStranger) || !strings.Contains(err.Error(), fmt.Sprintf("user %d", otherUser())) {
		t.Errorf("%v, want that another user is there", err)
	}
	if _, err := p.tellSocket(testenv.Context(t), &variables{lookup: lookupIn(nil)}, false, name); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("%v, want that the name is taken", err)
	}

	own, err := listenNear(socketName("test", NewJobID()))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveNear(own, referral{[]string{"127.0.0.1:1"}, "a key"})
	}()
	var text []byte
	as(t, otherUser(), func() {
		conn, err := net.Dial("unix", own.Addr().String())
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
	if r, err := askNear(testenv.Context(t), own.Addr().String()); err != nil || r.key != "a key" {
		t.Errorf("the own user was told %v, %v", r, err)
	}
	own.Close()
	<-served
}
