//go:build capi && cgo && linux

/* Programs that have called MPI_Init: their processes are the ranks, and MPI tells them how they find each
 * other. Its own connection to a process manager stays MPI's. The library is not linked against MPI: the
 * functions are those of the program. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "library.h"

/* Handles of MPI are pointers in Open MPI and numbers in MPICH; both are passed in one register. */
typedef void *handle;

typedef struct {
  handle world, byte;
  int (*rank)(handle, int *);
  int (*size)(handle, int *);
  int (*broadcast)(void *, int, handle, int, handle);
  int (*gather)(const void *, int, handle, void *, int, handle, handle);
} mpi;

/* The numbers of MPI_COMM_WORLD and MPI_BYTE in MPICH and what is derived from it. */
enum { MPICH_WORLD = 0x44000000, MPICH_BYTE = 0x4c00010d };

/* A function of MPI as a pointer to one. */
static void find(void *function, const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &symbol, sizeof symbol);
}

/* Whether this process is in MPI, and how to call it. */
static int in_mpi(mpi *m) {
  int (*initialized)(int *), (*finalized)(int *), yes = 0, over = 0;
  find(&initialized, "MPI_Initialized");
  find(&finalized, "MPI_Finalized");
  if (!initialized || !finalized || initialized(&yes) || !yes || finalized(&over) || over) return 0;
  find(&m->rank, "MPI_Comm_rank");
  find(&m->size, "MPI_Comm_size");
  find(&m->broadcast, "MPI_Bcast");
  find(&m->gather, "MPI_Allgather");
  m->world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  m->byte = dlsym(RTLD_DEFAULT, "ompi_mpi_byte");
  if (!m->world) {
    m->world = (handle)(uintptr_t)MPICH_WORLD;
    m->byte = (handle)(uintptr_t)MPICH_BYTE;
  }
  return m->rank && m->size && m->broadcast && m->gather && m->byte;
}

enum { HOST = 128, PLACES = 1024, KEY = 32 };

/* A name of this host and of the view of its processes, equal for processes that can share memory. */
static void host_name(char *name) {
  char view[64] = "";
  memset(name, 0, HOST);
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (f) {
    if (!fgets(name, 40, f)) name[0] = 0;
    fclose(f);
    name[strcspn(name, "\n")] = 0;
  }
  if (!name[0]) gethostname(name, 60);
  ssize_t n = readlink("/proc/self/ns/pid", view, sizeof view - 1);
  if (n > 0) snprintf(name + strlen(name), HOST - strlen(name), "-%s", view);
}

/* A port that nobody listens at. */
static unsigned free_port(void) {
  struct sockaddr_in at = { .sin_family = AF_INET };
  socklen_t len = sizeof at;
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return 0;
  int ok = bind(s, (struct sockaddr *)&at, sizeof at) == 0 && getsockname(s, (struct sockaddr *)&at, &len) == 0;
  close(s);
  return ok ? ntohs(at.sin_port) : 0;
}

/* Where rank 0, this one, can be reached: "address:port,address:port". */
static void places(char *out, int one_host) {
  unsigned port = free_port();
  size_t used = 0;
  if (one_host) {
    snprintf(out, PLACES, "127.0.0.1:%u", port);
    return;
  }
  struct ifaddrs *all = NULL;
  out[0] = 0;
  if (getifaddrs(&all)) return;
  for (struct ifaddrs *i = all; i && used + 32 < PLACES; i = i->ifa_next) {
    char text[INET_ADDRSTRLEN];
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK) continue;
    inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, text, sizeof text);
    used += (size_t)snprintf(out + used, PLACES - used, "%s%s:%u", used ? "," : "", text, port);
  }
  freeifaddrs(all);
}

static void set_number(const char *name, int n) {
  char text[16];
  snprintf(text, sizeof text, "%d", n);
  setenv(name, text, 1);
}

/* Sets the variables of a rank from what MPI knows. */
static int set_variables(const mpi *m) {
  struct {
    unsigned char key[KEY];
    char places[PLACES];
  } first;
  char own[HOST], key[2 * KEY + 1];
  int rank, size, local_rank = 0, local_size = 0;
  if (m->rank(m->world, &rank) || m->size(m->world, &size)) return 0;
  char *hosts = malloc((size_t)size * HOST);
  host_name(own);
  if (!hosts || m->gather(own, HOST, m->byte, hosts, HOST, m->byte, m->world)) {
    free(hosts);
    return 0;
  }
  for (int r = 0; r < size; r++) {
    int here = strncmp(own, hosts + (size_t)r * HOST, HOST) == 0;
    local_rank += here && r < rank;
    local_size += here;
  }
  free(hosts);
  memset(&first, 0, sizeof first);
  if (rank == 0) {
    if (getrandom(first.key, KEY, 0) != KEY) return 0;
    places(first.places, local_size == size);
  }
  if (m->broadcast(&first, sizeof first, m->byte, 0, m->world)) return 0;
  for (int i = 0; i < KEY; i++) snprintf(key + 2 * i, 3, "%02x", first.key[i]);
  set_number("GASPI_RANK", rank);
  set_number("GASPI_SIZE", size);
  set_number("GASPI_LOCAL_RANK", local_rank);
  set_number("GASPI_LOCAL_SIZE", local_size);
  setenv("GASPI_HOST", own, 1);
  setenv("GASPI_RENDEZVOUS", first.places, 1);
  setenv("GASPI_KEY", key, 1);
  return 1;
}

/* Before this process joins: if it is in MPI, and neither gaspi-run nor the user has said who it is, its
 * rank is that in MPI. All processes of MPI call it. */
void ggo_join_mpi(void) {
  static int done;
  mpi m;
  if (done || getenv("GASPI_BOOT_FD") || getenv("GASPI_RANK") || !in_mpi(&m)) return;
  done = 1;
  if (!set_variables(&m)) fprintf(stderr, "gaspi: MPI could not tell how ranks find each other\n");
}
