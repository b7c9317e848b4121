// twin measures what libfabric gives to a C program that does nothing else: one-way
// time of writes with remote completion data that go back and forth, and rate of
// writes of which 64 are under way. It is what this transport is compared with, as
// fabtests' fi_rma_pingpong and fi_rma_bw would be.
//
//	cc -O2 -o twin twin.c -lfabric && ./twin [-d | -t] 'tcp;ofi_rxm' 127.0.0.1 8 4096 65536
//
// With -d the completion queue has a descriptor, as this transport's has: a program
// that does not poll all the time needs it, and providers pay for it. With -t there is
// a thread too that sleeps on the descriptor and makes progress when nobody else does,
// and a lock for the two: the least that it takes to receive while the program computes.
//
// Two processes, each bound to a core; the address may be empty. A line for each size:
// bytes, microseconds one way (best and median of 20 rounds), GB/s (best and median).

#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY = 64 << 20, ROUNDS = 20, WINDOW = 64 };

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_ep *ep;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_mr *mr;
static fi_addr_t peer;
static char *mem;
static uint64_t there, key;
static enum fi_wait_obj wait_object = FI_WAIT_NONE;
static volatile int sent, done, got; // writes with a completion to come, such that came, data that came
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threaded;
static volatile unsigned looks; // of the main thread
static struct fi_context2 contexts[WINDOW];

#define CHECK(call) \
	do { \
		long r_ = (call); \
		if (r_ < 0) { \
			fprintf(stderr, "twin: " #call ": %s\n", fi_strerror(-r_)); \
			exit(1); \
		} \
	} while (0)

static void setup(const char *provider, const char *address) {
	struct fi_info *h = fi_allocinfo();
	h->ep_attr->type = FI_EP_RDM;
	h->caps = FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RMA_WAW;
	h->fabric_attr->prov_name = strdup(provider);
	CHECK(fi_getinfo(FI_VERSION(1, 14), *address ? address : NULL, *address ? "0" : NULL, *address ? FI_SOURCE : 0, h, &info));
	struct fid_domain *domain;
	CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
	CHECK(fi_domain(fabric, info, &domain, NULL));
	struct fi_cq_attr c = { .size = 4096, .format = FI_CQ_FORMAT_DATA, .wait_obj = wait_object };
	CHECK(fi_cq_open(domain, &c, &cq, NULL));
	struct fi_av_attr a = { .type = FI_AV_UNSPEC, .count = 2 };
	CHECK(fi_av_open(domain, &a, &av, NULL));
	CHECK(fi_endpoint(domain, info, &ep, NULL));
	CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK(fi_ep_bind(ep, &av->fid, 0));
	CHECK(fi_enable(ep));
	mem = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(fi_mr_reg(domain, mem, MEMORY, FI_REMOTE_WRITE | FI_REMOTE_READ | FI_WRITE | FI_READ, 0, 7, 0, &mr, NULL));
	memset(mem, 1, MEMORY);
}

// meet exchanges names and keys through two pipes.
static void meet(int in, int out) {
	struct {
		uint64_t base, key;
		char name[256];
	} m = { 0 };
	size_t n = sizeof m.name;
	CHECK(fi_getname(&ep->fid, m.name, &n));
	m.base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)mem : 0;
	m.key = fi_mr_key(mr);
	if (write(out, &m, sizeof m) != sizeof m || read(in, &m, sizeof m) != sizeof m)
		exit(1);
	there = m.base;
	key = m.key;
	CHECK(fi_av_insert(av, m.name, 1, &peer, 0, NULL));
}

static void look(void) {
	struct fi_cq_data_entry e[16];
	ssize_t n = fi_cq_read(cq, e, 16);
	if (n == -FI_EAGAIN)
		return;
	CHECK(n);
	for (int i = 0; i < n; i++)
		if (e[i].flags & FI_REMOTE_CQ_DATA)
			got++;
		else
			done++;
}

static void progress(void) {
	if (!threaded) {
		look();
		return;
	}
	looks++;
	pthread_mutex_lock(&lock);
	look();
	pthread_mutex_unlock(&lock);
}

// helper is the thread that makes progress when nobody else does.
static void *helper(void *unused) {
	(void)unused;
	struct pollfd p = { .events = POLLIN };
	CHECK(fi_control(&cq->fid, FI_GETWAIT, &p.fd));
	for (unsigned seen = looks;;) {
		if (seen != looks) {
			seen = looks;
			usleep(1000);
			continue;
		}
		pthread_mutex_lock(&lock);
		look();
		struct fid *q = &cq->fid;
		int quiet = fi_trywait(fabric, &q, 1) == 0;
		pthread_mutex_unlock(&lock);
		if (quiet)
			poll(&p, 1, -1);
	}
}

// put writes n bytes; data says whether the other side is told.
static void put(size_t n, int data) {
	ssize_t r;
	for (;;) {
		void *c = &contexts[sent % WINDOW];
		if (threaded)
			pthread_mutex_lock(&lock);
		if (n <= info->tx_attr->inject_size)
			r = data ? fi_inject_writedata(ep, mem, n, 1, peer, there, key) : fi_inject_write(ep, mem, n, peer, there, key);
		else if (data)
			r = fi_writedata(ep, mem, n, fi_mr_desc(mr), 1, peer, there, key, c);
		else
			r = fi_write(ep, mem, n, fi_mr_desc(mr), peer, there, key, c);
		if (!r && n > info->tx_attr->inject_size)
			sent++;
		if (threaded)
			pthread_mutex_unlock(&lock);
		if (r != -FI_EAGAIN)
			break;
		progress();
	}
	CHECK(r);
}

static void await(int count) {
	static int taken;
	taken += count;
	while (got < taken)
		progress();
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
	double d = *(const double *)a - *(const double *)b;
	return d < 0 ? -1 : d > 0;
}

static double pingpong(int first, size_t n, int times) {
	double start = now();
	for (int i = 0; i < times; i++) {
		if (first)
			put(n, 1);
		await(1);
		if (!first)
			put(n, 1);
		while (sent > done)
			progress();
	}
	return (now() - start) / times / 2 * 1e6;
}

static double stream(int first, size_t n, int times) {
	double start = now();
	if (first) {
		for (int i = 0; i < times; i++) {
			while (sent - done >= WINDOW)
				progress();
			put(n, i == times - 1);
		}
		await(1);
		while (sent > done)
			progress();
	} else {
		await(1);
		put(1, 1);
	}
	return n * (double)times / (now() - start) / 1e9;
}

int main(int argc, char **argv) {
	threaded = argc > 1 && !strcmp(argv[1], "-t");
	if (threaded || (argc > 1 && !strcmp(argv[1], "-d"))) {
		wait_object = FI_WAIT_FD;
		argc--;
		argv++;
	}
	if (argc < 4) {
		fprintf(stderr, "usage: twin [-d | -t] PROVIDER ADDRESS BYTES...\n");
		return 2;
	}
	int up[2], down[2];
	if (pipe(up) || pipe(down))
		return 1;
	int first = fork() > 0;
	cpu_set_t core;
	CPU_ZERO(&core);
	CPU_SET(first ? 0 : 1, &core);
	sched_setaffinity(0, sizeof core, &core);
	setup(argv[1], argv[2]);
	meet(first ? up[0] : down[0], first ? down[1] : up[1]);
	pthread_t thread;
	if (threaded && pthread_create(&thread, NULL, helper, NULL))
		return 1;
	for (int i = 3; i < argc; i++) {
		size_t n = strtoull(argv[i], NULL, 10);
		if (n < 1 || n > MEMORY)
			return 2;
		int times = n < 65536 ? 2000 : 20 + (int)(64e6 / n);
		double us[ROUNDS], rate[ROUNDS];
		pingpong(first, n, 100);
		for (int r = 0; r < ROUNDS; r++)
			us[r] = pingpong(first, n, times);
		for (int r = 0; r < ROUNDS; r++)
			rate[r] = stream(first, n, times);
		qsort(us, ROUNDS, sizeof *us, ascending);
		qsort(rate, ROUNDS, sizeof *rate, ascending);
		if (first)
			printf("%zu %.2f %.2f %.3f %.3f\n", n, us[0], us[ROUNDS / 2], rate[ROUNDS - 1], rate[ROUNDS / 2]);
	}
	if (first) {
		int status;
		wait(&status);
		return status != 0;
	}
	return 0;
}
