// Package probe has the kernel measure what ranks of this host meet there, by eBPF: how long their
// threads wait for a processor, how long data waits for the thread that it has woken, and when segments of
// their TCP connections are sent again.
//
// Its programs are in probe.bpf.c. Their objects are made by make ebpf, which needs clang, and are part of
// the source, so that nothing else does. Only gaspi-run links it.
package probe
