// Package rdma connects ranks by one-sided operations of a network card, through
// libfabric: InfiniBand and RoCE verbs, and whatever else a provider of libfabric
// drives.
//
// Bytes go straight from the source into the peer's memory. Messages of 64 bytes on
// the same endpoint do the rest: they say where segments lie, carry atomics to their
// owner, and end the use of a segment before its memory is given back. Which way a
// notification takes follows from what the provider promises, and can be printed.
//
// Everything but the calls of libfabric itself is plain Go over a small interface,
// and is tested over a fabric in memory that can be as bad as its promises allow.
// The calls need the build tag rdma and cgo; libfabric is opened at run time. Without
// the tag, New returns an error. Package remote holds the parts that do not depend on the
// fabric. docs/RDMA.md has the details. Tests run over the fabric in memory, and with the tag over
// libfabric, whole jobs included:
//
//	go test ./internal/transport/rdma
//	go test -tags rdma ./internal/transport/rdma
//	GASPI_RDMA_PROVIDER='verbs;ofi_rxm' go test -tags rdma ./internal/transport/rdma
package rdma
