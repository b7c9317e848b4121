//go:build rdma && cgo && linux

package rdma

/*
#cgo LDFLAGS: -ldl
#include "shim.h"
#include <stdlib.h>
*/
import "C"

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	netaddr "github.com/gaspi-go/gaspi-go/internal/address"
)

// Memory goes to C as numbers, not as pointers. That is right because the collector
// moves no heap memory, because whoever registers memory or has it in a transfer keeps
// it reachable until that has ended (regions.all, op.keep), and because mapped memory
// is none of the collector's business.

// libfabric is an endpoint of libfabric.
type libfabric struct {
	f      *C.rf
	t      traits
	events []C.struct_rf_event // filled by C; memory of Go's, which holds no pointers
}

// load opens the library for jobs of so many ranks, whose sockets listen at these ports.
func load(size int, ports netaddr.Ports) error {
	if wrong := C.rf_load(C.int(size), C.int(ports.Low), C.int(ports.High)); wrong != nil {
		return fmt.Errorf("%w: RDMA needs libfabric (Debian: libfabric1): %s", base.ErrNotSupported, C.GoString(wrong))
	}
	return nil
}

// open opens an endpoint.
func open(provider string, source []netip.Addr, ports netaddr.Ports, size int) (fabric, error) {
	if err := load(size, ports); err != nil {
		return nil, err
	}
	if provider == "" {
		var err error
		if provider, err = hardware(); err != nil {
			return nil, err
		}
	}
	l, err := openAtAny(provider, source, portsOf(provider, ports), size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", base.ErrNotSupported, err)
	}
	return l, nil
}

// portsOf returns the range that an endpoint has to listen in: none for a provider that
// chooses its ports, or whose range the user has told libfabric.
func portsOf(provider string, ports netaddr.Ports) netaddr.Ports {
	_, low := os.LookupEnv("FI_TCP_PORT_LOW_RANGE")
	_, high := os.LookupEnv("FI_TCP_PORT_HIGH_RANGE")
	if low || high || !strings.HasPrefix(provider, "tcp") {
		return netaddr.Ports{}
	}
	return ports
}

// openAtAny opens an endpoint at the first of the addresses at which that succeeds, else where
// the provider chooses. With a range of ports it opens it at the first address that the provider
// has, at one of these ports, or fails.
func openAtAny(provider string, source []netip.Addr, ports netaddr.Ports, size int) (*libfabric, error) {
	chosen := ports != netaddr.Ports{}
	var why error
	for _, a := range append(slices.Clone(source), netip.Addr{}) {
		at := ""
		if a.IsValid() {
			at = a.String()
		}
		l, has, err := openAt(provider, at, size)
		switch {
		case err == nil && chosen:
			return l.within(ports)
		case err == nil:
			return l, nil
		case chosen && has:
			// The words of libfabric for a range without a free port vary.
			return nil, fmt.Errorf("%w; if all ports from %d to %d are in use, a wider range is --ports or GASPI_PORTS", err, ports.Low, ports.High)
		case why == nil || a.IsValid():
			why = err
		}
	}
	return nil, why
}

// within returns the endpoint, or closes it and fails if it listens at none of the ports.
func (l *libfabric) within(ports netaddr.Ports) (*libfabric, error) {
	name := l.name() // of this provider, a socket address
	if port := binary.BigEndian.Uint16(append(name, 0, 0, 0, 0)[2:]); port < ports.Low || port > ports.High {
		l.close()
		return nil, fmt.Errorf("provider %s listens at port %d, and at none from %d to %d: libfabric takes the range of the first transport of a process", l.t.provider, port, ports.Low, ports.High)
	}
	return l, nil
}

// hardware is the first provider that drives a network card which moves bytes by
// itself.
func hardware() (string, error) {
	all, err := list("")
	if err != nil {
		return "", err
	}
	for _, p := range all {
		if p.Hardware {
			return p.Name, nil
		}
	}
	return "", fmt.Errorf("%w: no provider of libfabric drives a network card that moves bytes by itself here; --rdma-provider names one of another kind, such as tcp;ofi_rxm", base.ErrNotSupported)
}

// openAt opens an endpoint. has tells whether the provider has the address.
func openAt(provider, address string, size int) (l *libfabric, has bool, err error) {
	name, at := C.CString(provider), C.CString(address)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(at))
	var t C.struct_rf_traits
	wrong := make([]C.char, 256)
	f := C.rf_open(name, at, C.int(size), &t, &wrong[0], C.size_t(len(wrong)))
	if f == nil {
		return nil, t.provider[0] != 0, errors.New(C.GoString(&wrong[0]))
	}
	return &libfabric{
		f: f, events: make([]C.struct_rf_event, eventsMost),
		t: traits{
			provider: C.GoString(&t.provider[0]), device: C.GoString(&t.device[0]), version: versionText(uint32(t.version)),
			inject: int(min(t.inject, 1<<20)), transfer: uint64(t.transfer), inFlight: int(t.in_flight),
			orderedWrites: uint64(t.ordered_writes), sendAfterWrite: t.send_after_write != 0,
			dataBits: int(t.data_bits), localKeys: t.local_keys != 0,
		},
	}, true, nil
}

func versionText(v uint32) string { return fmt.Sprintf("%d.%d", v>>16, v&0xffff) }

func (l *libfabric) traits() traits { return l.t }

// nameMost is longer than any provider's address.
const nameMost = 512

func (l *libfabric) name() []byte {
	buf := make([]byte, nameMost)
	size := C.size_t(len(buf))
	if C.rf_name(l.f, unsafe.Pointer(&buf[0]), &size) != 0 {
		return nil
	}
	return buf[:min(int(size), nameMost)]
}

func (l *libfabric) insert(name []byte) (uint64, error) {
	buf := make([]byte, nameMost) // providers read as much as they want
	copy(buf, name)
	var peer C.uint64_t
	if r := C.rf_insert(l.f, unsafe.Pointer(&buf[0]), &peer); r != 0 {
		return 0, l.fault(r)
	}
	return uint64(peer), nil
}

// keyTries is how often another key is tried where this side chooses them; random
// keys of 32 bits and more are hardly ever in use.
const keyTries = 8

func (l *libfabric) register(mem []byte) (*memoryRegion, error) {
	r := &memoryRegion{mem: mem}
	at := addressOf(mem)
	for try := 1; ; try++ {
		var raw [8]byte
		_, _ = rand.Read(raw[:]) // it does not fail; a key that nobody can guess
		var mr unsafe.Pointer
		var key, first C.uint64_t
		status := C.rf_register(l.f, at, C.size_t(len(mem)), C.uint64_t(binary.LittleEndian.Uint64(raw[:])), &mr, &key, &first)
		if status == 0 {
			r.handle, r.key, r.base = mr, uint64(key), uint64(first)
			return r, nil
		}
		if status != -errNoKey || try == keyTries {
			return nil, l.unregistrable(status)
		}
	}
}

// Numbers of errors that mean something here.
const (
	errNoMemory = 12  // FI_ENOMEM
	errNoKey    = 126 // FI_ENOKEY
)

// unregistrable is why memory was not registered.
func (l *libfabric) unregistrable(status C.int) error {
	if status == -errNoMemory {
		return fmt.Errorf("%w: %w; the limit of locked memory may be too small: raise it with ulimit -l, or in /etc/security/limits.conf", base.ErrNotSupported, l.fault(status))
	}
	return l.fault(status)
}

func (l *libfabric) unregister(r *memoryRegion) { C.rf_unregister(r.handle.(unsafe.Pointer)) }

func (l *libfabric) write(x *transfer) error  { return l.move(x, 0) }
func (l *libfabric) read(x *transfer) error   { return l.move(x, C.RF_READ) }
func (l *libfabric) inject(x *transfer) error { return l.move(x, C.RF_INJECT) }

func (l *libfabric) move(x *transfer, flags C.int) error {
	if x.withData {
		flags |= C.RF_WITH_DATA
	}
	if x.confirmed {
		flags |= C.RF_CONFIRMED
	}
	var mr unsafe.Pointer
	if x.region != nil {
		mr = x.region.handle.(unsafe.Pointer)
	}
	status := C.rf_move(l.f, C.uint64_t(x.peer), addressOf(x.local), C.size_t(len(x.local)), mr,
		C.uint64_t(x.remote), C.uint64_t(x.key), C.uint64_t(x.data), C.uint32_t(x.token), flags)
	runtime.KeepAlive(x)
	return l.status(status)
}

func (l *libfabric) send(peer uint64, m *[messageSize]byte) error {
	return l.status(C.rf_send(l.f, C.uint64_t(peer), addressOf(m[:])))
}

func (l *libfabric) status(s C.int) error {
	switch s {
	case 0:
		return nil
	case C.RF_AGAIN:
		return errAgain
	}
	return l.fault(s)
}

func (l *libfabric) fault(status C.int) error { return errors.New(C.GoString(C.rf_strerror(status))) }

func (l *libfabric) poll(events []completion) int {
	n := int(C.rf_poll(l.f, &l.events[0], C.int(min(len(events), len(l.events)))))
	for i := range n {
		from, to := &l.events[i], &events[i]
		to.kind, to.token, to.data, to.err = eventKind(from.kind), uint32(from.token), uint64(from.data), nil
		switch to.kind {
		case eventMessage:
			to.message = *(*[messageSize]byte)(unsafe.Pointer(&from.message[0])) // both are 64 bytes
		case eventFailed, eventBroken:
			to.err = fmt.Errorf("%w (%d)", l.fault(from.err), from.provider_err)
		}
	}
	return n
}

func (l *libfabric) waitFile() int { return int(C.rf_wait_file(l.f)) }
func (l *libfabric) arm() bool     { return C.rf_arm(l.f) != 0 }
func (l *libfabric) close()        { C.rf_close(l.f) }

// addressOf is where mem lies, as a number.
func addressOf(mem []byte) C.uintptr_t {
	return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
}

// list is what libfabric offers, of one provider or of all.
func list(provider string) ([]Provider, error) {
	if err := load(1, netaddr.Ports{}); err != nil {
		return nil, err
	}
	name := C.CString(provider)
	defer C.free(unsafe.Pointer(name))
	found := make([]C.struct_rf_found, 256)
	n := int(C.rf_list(name, &found[0], C.int(len(found))))
	var all []Provider
	for i := range found[:n] {
		o := &found[i]
		all = append(all, Provider{
			Name: C.GoString(&o.provider[0]), Device: C.GoString(&o.device[0]),
			Hardware: o.usable_hardware != 0,
		})
	}
	return all, nil
}
