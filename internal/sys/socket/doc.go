// Package socket has TCP connections as descriptors: options, transfers of several pieces of memory
// in one call, a poller of many, and what the system has measured of each.
package socket
