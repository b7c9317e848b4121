//go:build linux && !portable

package thread

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestCoresAreInherited(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, err := Cores()
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	switch err := SetCores([]int{last}); {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS):
		testenv.Lack(t, "threads cannot be bound to cores here, since a filter of system calls (seccomp) forbids it: "+err.Error())
	case err != nil:
		t.Fatal(err)
	}
	text, err := exec.Command("cat", "/proc/self/status").Output()
	if restore := SetCores(all); restore != nil {
		t.Fatal(restore)
	}
	want := "Cpus_allowed_list:\t" + strconv.Itoa(last) + "\n"
	if err != nil || !strings.Contains(string(text), "\n"+want) {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if got, _ := Cores(); !slices.Equal(got, all) {
		t.Errorf("restored to %v, want %v", got, all)
	}
}
