//go:build linux && (amd64 || arm64)

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// mostResends is how many segments of a process that were sent again are told with their times.
const mostResends = 64

// A tracer is the programs at work.
type tracer struct {
	objects probeObjects
	links   []link.Link
	resends *ringbuf.Reader
	began   time.Time // the beginning of the monotonic clock
	reading sync.WaitGroup

	mu   sync.Mutex
	told map[uint32][]launcher.Resend // guarded by mu; by process
}

// Open loads the programs into the kernel and begins. Its error is a sentence that says what is missing and
// which capability gives it.
func Open() (launcher.Prober, error) {
	if err := sameProcessNumbers(); err != nil {
		return nil, err
	}
	now, err := sys.Monotonic()
	if err != nil {
		return nil, err
	}
	_ = rlimit.RemoveMemlock() // needed before Linux 5.11 only
	t := &tracer{told: map[uint32][]launcher.Resend{}, began: time.Now().Add(-time.Duration(now))}
	if err := t.open(); err != nil {
		t.Close()
		return nil, explain(err)
	}
	t.reading.Go(t.loop)
	return t, nil
}

// open loads the programs and attaches them.
func (t *tracer) open() (err error) {
	o := &t.objects
	if err := loadProbeObjects(o, nil); err != nil {
		return err
	}
	for _, program := range []*ebpf.Program{o.OnWaking, o.OnSwitch, o.OnArrival, o.OnResend} {
		l, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return err
		}
		t.links = append(t.links, l)
	}
	t.resends, err = ringbuf.NewReader(o.Resends)
	return err
}

// initialPIDs is the first namespace of process numbers, whose number the kernel fixes.
const initialPIDs = "pid:[4026531836]"

// sameProcessNumbers returns an error unless the kernel gives processes the numbers that this one sees.
func sameProcessNumbers() error {
	if at, err := os.Readlink("/proc/self/ns/pid"); err != nil || at != initialPIDs {
		return errors.New("processes have other numbers in this container than in the kernel: start gaspi-run outside of it")
	}
	return nil
}

// explain says why programs could not be loaded.
func explain(err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return errors.New("this process may not load programs into the kernel: give gaspi-run CAP_BPF and CAP_PERFMON, by setcap cap_bpf,cap_perfmon+ep or as root")
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("this kernel has no typed raw tracepoints: Linux 5.8 with CONFIG_DEBUG_INFO_BTF has them (%w)", err)
	}
	return fmt.Errorf("the kernel refuses the programs: %w", err)
}

// Add implements launcher.Prober.
func (t *tracer) Add(pid int) error {
	return t.objects.Ranks.Put(uint32(pid), probeRankTimes{})
}

// Read implements launcher.Prober.
func (t *tracer) Read(pid int) (launcher.KernelTimes, error) {
	var seen probeRankTimes
	if err := t.objects.Ranks.Lookup(uint32(pid), &seen); err != nil {
		return launcher.KernelTimes{}, fmt.Errorf("times of process %d: %w", pid, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return launcher.KernelTimes{Run: seen.Run[:], Wake: seen.Wake[:], Resent: seen.Resent, Resends: slices.Clone(t.told[uint32(pid)])}, nil
}

// loop takes what the programs tell of segments until Close.
func (t *tracer) loop() {
	for {
		record, err := t.resends.Read()
		if err != nil {
			return
		}
		process, resend := t.parse(record.RawSample)
		t.mu.Lock()
		if len(t.told[process]) < mostResends {
			t.told[process] = append(t.told[process], resend)
		}
		t.mu.Unlock()
	}
}

// parse reads a struct resend of probe.bpf.c.
func (t *tracer) parse(b []byte) (process uint32, r launcher.Resend) {
	e := binary.NativeEndian
	return e.Uint32(b[8:]), launcher.Resend{At: t.began.Add(time.Duration(e.Uint64(b))), Port: uint16(e.Uint32(b[12:]))}
}

// Close implements launcher.Prober.
func (t *tracer) Close() {
	for _, l := range t.links {
		_ = l.Close()
	}
	if t.resends != nil {
		_ = t.resends.Close()
	}
	t.reading.Wait()
	_ = t.objects.Close()
}
