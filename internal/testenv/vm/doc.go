// Package vm boots a small virtual machine that has an RDMA device made of
// software, so that tests can use real verbs on a computer without RDMA hardware.
//
//	Debian's packages --> kernel, cpio archive --> qemu --> ttyS0 console
//	                      + files of the job                ttyS1 output of the job
//	                                                        ttyS2 its exit status
//
// The processor is emulated, so neither root nor any right to the hardware is
// needed, and no time measured inside means anything. The guest has a network of
// its own with nobody else on it, and no disk: nothing of a run stays.
//
// It is for tests alone. Where a tool is missing, New skips the test, or fails it
// if GASPI_CI=1 is in the environment. README.md says what is tested with it.
package vm
