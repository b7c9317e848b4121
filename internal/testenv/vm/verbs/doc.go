// Package verbs has no code, only tests: of the transport over libfabric and of
// whole jobs, on the verbs of a virtual machine.
//
// They take minutes and need cgo and what package vm needs, so they are built with
// the tag rdma only, and run only with GASPI_TEST_VM=1 in the environment, as
// .ci/run verbs does.
package verbs
