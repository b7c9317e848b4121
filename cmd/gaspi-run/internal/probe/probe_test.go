//go:build linux && (amd64 || arm64)

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// open opens a watch, where the kernel lets it.
func open(t *testing.T) launcher.Prober {
	t.Helper()
	w, err := Open()
	if err != nil {
		testenv.Lack(t, "the kernel watches no processes here: "+err.Error())
	}
	t.Cleanup(w.Close)
	return w
}

// sum adds up a histogram.
func sum(histogram []uint64) (all uint64) {
	for _, n := range histogram {
		all += n
	}
	return all
}

// TestProcessIsWatched has a process wait for input, which wakes it, and another one do so unseen.
func TestProcessIsWatched(t *testing.T) {
	w := open(t)
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if err := w.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	testenv.Eventually(t, "it has been woken", func() bool {
		if _, err := in.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(b); err != nil {
			t.Fatal(err)
		}
		seen, err := w.Read(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if sum(seen.Wake) > 0 || seen.Resent > 0 {
			t.Fatalf("%+v of a process without connections", seen)
		}
		return sum(seen.Run) > 0
	})
	if _, err := w.Read(os.Getpid()); err == nil {
		t.Error("a process that was not added has times")
	}
}

// TestDataWakes has data of a connection wake this process.
func TestDataWakes(t *testing.T) {
	w := open(t)
	if err := w.Add(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go io.Copy(other, other)
	b := make([]byte, 1)
	testenv.Eventually(t, "data has woken a thread", func() bool {
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		seen, err := w.Read(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return sum(seen.Wake) > 0
	})
}

func TestParse(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	trace := tracer{began: began}
	var b []byte
	b = binary.NativeEndian.AppendUint64(b, uint64(7*time.Second))
	b = binary.NativeEndian.AppendUint32(b, 1234)
	b = binary.NativeEndian.AppendUint32(b, 4711)
	process, r := trace.parse(b)
	if d := cmp.Diff(launcher.Resend{At: began.Add(7 * time.Second), Port: 4711}, r); d != "" || process != 1234 {
		t.Errorf("process %d (-want +got):\n%s", process, d)
	}
}

func TestExplain(t *testing.T) {
	for want, err := range map[string]error{
		"give gaspi-run CAP_BPF and CAP_PERFMON": fmt.Errorf("load: %w", os.ErrPermission),
		"Linux 5.8 with CONFIG_DEBUG_INFO_BTF":   fmt.Errorf("load: %w", ebpf.ErrNotSupported),
		"refuses the programs: odd":              errors.New("odd"),
	} {
		if got := explain(err).Error(); !strings.Contains(got, want) {
			t.Errorf("%q of %v; want %q", got, err, want)
		}
	}
}
