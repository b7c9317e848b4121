//go:build rdma && cgo && linux

// What fabric_libfabric.go needs of libfabric, as plain calls. Nothing here is called
// by two threads at a time on one rf, but for rf_wait_file's descriptor.

#ifndef GASPI_RDMA_SHIM_H
#define GASPI_RDMA_SHIM_H

#include <stddef.h>
#include <stdint.h>

#define RF_MESSAGE 64

enum { RF_DONE = 1, RF_FAILED, RF_MESSAGE_IN, RF_DATA, RF_BROKEN };
enum { RF_AGAIN = 1 }; // a call had no room

// RF_WITH_DATA and RF_CONFIRMED are flags of rf_write.
enum { RF_WITH_DATA = 1, RF_CONFIRMED = 2, RF_INJECT = 4, RF_READ = 8 };

typedef struct rf rf;

struct rf_traits {
	char provider[64], device[64];
	uint32_t version; // of the library
	uint64_t inject, transfer, ordered_writes;
	uint32_t in_flight, data_bits;
	int send_after_write, local_keys;
};

struct rf_event {
	uint32_t kind, token;
	uint64_t data;
	int32_t err, provider_err;
	uint8_t message[RF_MESSAGE];
};

// A found provider, as rf_list tells of it.
struct rf_found {
	char provider[64], device[64];
	int usable_hardware;
};

// rf_load opens the library, once. It returns NULL, or what is wrong. libfabric learns
// the number of peers and the ports of its provider tcp, if low_port is not 0, for the whole
// process, from the first call.
const char *rf_load(int peers, int low_port, int high_port);
uint32_t rf_version(void);
int rf_list(const char *provider, struct rf_found *out, int most);

// rf_open opens an endpoint of a provider, at address if that is not empty. If it
// fails it returns NULL and writes why into wrong; t is filled all the same if the provider
// has the address.
rf *rf_open(const char *provider, const char *address, int peers, struct rf_traits *t, char *wrong, size_t size);
int rf_name(rf *f, void *name, size_t *size);
int rf_insert(rf *f, const void *name, uint64_t *peer);
int rf_register(rf *f, uintptr_t mem, size_t size, uint64_t key, void **mr, uint64_t *got, uint64_t *base);
int rf_unregister(void *mr);

// These return 0, RF_AGAIN, or the negative number of an error.
int rf_move(rf *f, uint64_t peer, uintptr_t mem, size_t size, void *mr, uint64_t remote, uint64_t key, uint64_t data, uint32_t token, int flags);
int rf_send(rf *f, uint64_t peer, uintptr_t message);

int rf_poll(rf *f, struct rf_event *out, int most);
int rf_wait_file(rf *f);
int rf_arm(rf *f);
const char *rf_strerror(int err);
void rf_close(rf *f);

#endif
