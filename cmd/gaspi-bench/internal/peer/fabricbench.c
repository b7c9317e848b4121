//go:build ignore

// fabricbench measures what libfabric gives to a C program that does nothing else:
// writes with remote completion data between two processes, as fabtests' rma_pingpong
// and rma_bw do, by the rules of gaspi-bench; see mpibench.c for what it prints.
//
// usage: fabricbench PROGRESS PROVIDER BOUND MICROSECONDS POINT...
//        fabricbench --version
//
// PROGRESS is who makes it. polling: whoever waits, who polls all the time, as
// fabtests do. descriptor: so too, but the completion queue has a descriptor, without
// which a program cannot sleep, and for which providers pay. thread: there is a thread
// too that sleeps on the descriptor and receives while the program computes, and a lock
// for the two: the least that a one-sided runtime needs. BOUND is 1 if each process
// runs on a core of its own.

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
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank;
static volatile int finished; // the other process may end

// fail ends both processes with one sentence.
static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "fabricbench: rank %d: ", rank);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	_exit(1); // rank 0 follows by child_ended, rank 1 by prctl
}

static void child_ended(int signal)
{
	(void)signal;
	if (!finished)
		_exit(1);
}

#define CHECK(call) \
	do { \
		long r_ = (call); \
		if (r_ < 0) \
			fail(#call ": %s", fi_strerror(-r_)); \
	} while (0)

#include "memory.h"

// A piece of work that can be timed. open_pair makes one.
struct work {
	size_t count; // bytes of a message
	int timed, steps;
	void (*batch)(struct work *, int n);
	void (*fill)(struct work *); // null, as batches check what they get
	void (*check)(struct work *);
	int tries;

	int window;  // messages in a row
	int looking; // every message is looked at, not only the last of a batch
	uint32_t sequence;
	char *inbox, *outbox;
};

// What both processes see.
static struct shared {
	volatile int arrived[2]; // barriers that a rank has come to
	char name[2][256];
	uint64_t base[2], key[2];
	double times[2][4000]; // as many as measure has blocks
} *shared;

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_mr *mr;
static fi_addr_t peer;

enum { in_flight = 64 };
static struct fi_context2 contexts[in_flight];
static volatile unsigned sent, done; // writes with a completion to come, and such that came
static volatile uint32_t arrived;    // the last data that came

static enum fi_wait_obj wait_object = FI_WAIT_NONE;
static int threaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned looks; // of the main thread

static void take_completions(void)
{
	struct fi_cq_data_entry e[16];
	ssize_t n = fi_cq_read(cq, e, 16);
	if (n == -FI_EAGAIN)
		return;
	CHECK(n);
	for (int i = 0; i < n; i++)
		if (e[i].flags & FI_REMOTE_CQ_DATA)
			arrived = (uint32_t)e[i].data;
		else
			done++;
}

static void progress(void)
{
	if (!threaded) {
		take_completions();
		return;
	}
	looks++;
	pthread_mutex_lock(&lock);
	take_completions();
	pthread_mutex_unlock(&lock);
}

// helper is the thread that makes progress when nobody else does.
static void *helper(void *unused)
{
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
		take_completions();
		struct fid *q = &cq->fid;
		int quiet = fi_trywait(fabric, &q, 1) == 0;
		pthread_mutex_unlock(&lock);
		if (quiet)
			poll(&p, 1, -1);
	}
	return NULL;
}

// meet is a barrier. It goes on with progress, without which nothing that was sent may leave.
static void meet(void)
{
	int mine = shared->arrived[rank] + 1;
	__atomic_store_n(&shared->arrived[rank], mine, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shared->arrived[1 - rank], __ATOMIC_ACQUIRE) < mine)
		progress();
}

static void slowest_of(const double *mine, double *most, int n)
{
	memcpy(shared->times[rank], mine, n * sizeof *mine);
	meet();
	for (int i = 0; i < n; i++) {
		double theirs = shared->times[1 - rank][i];
		most[i] = mine[i] > theirs ? mine[i] : theirs;
	}
	meet();
}

static double total_of(double mine)
{
	shared->times[rank][0] = mine;
	meet();
	double all = mine + shared->times[1 - rank][0];
	meet();
	return all;
}

#include "measure.h"
#include "message.h"

// put writes size bytes; whoever has v as data, unless v is 0, hears of it there.
static void put(const char *from, size_t size, uint64_t at, uint32_t v)
{
	size_t most = info->ep_attr->max_msg_size;
	for (; size > most; from += most, at += most, size -= most)
		put(from, most, at, 0);
	int injected = size <= info->tx_attr->inject_size;
	uint64_t there = shared->base[1 - rank] + at, key = shared->key[1 - rank];
	for (;;) {
		void *context = &contexts[sent % in_flight];
		ssize_t r;
		while (!injected && sent - done >= in_flight)
			progress();
		if (threaded)
			pthread_mutex_lock(&lock);
		if (injected)
			r = v ? fi_inject_writedata(ep, from, size, v, peer, there, key) : fi_inject_write(ep, from, size, peer, there, key);
		else if (v)
			r = fi_writedata(ep, from, size, fi_mr_desc(mr), v, peer, there, key, context);
		else
			r = fi_write(ep, from, size, fi_mr_desc(mr), peer, there, key, context);
		if (!r && !injected)
			sent++;
		if (threaded)
			pthread_mutex_unlock(&lock);
		if (r != -FI_EAGAIN) {
			CHECK(r);
			return;
		}
		progress();
	}
}

static void await_data(uint32_t v)
{
	while (arrived != v)
		progress();
}

// await_sources waits until what was sent may be changed.
static void await_sources(void)
{
	while (sent != done)
		progress();
}

static void send_message(struct work *w, uint32_t v)
{
	stamp(w->outbox, w->count, v);
	put(w->outbox, w->count, 0, v);
	await_sources();
}

static void receive_message(struct work *w, uint32_t v)
{
	await_data(v);
	if (w->looking)
		look(w->inbox, w->count, v);
}

// bandwidth_batch is n windows of messages, each with an answer.
static void bandwidth_batch(struct work *w, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t v = ++w->sequence;
		if (rank == 0) {
			stamp(w->outbox, w->count, v);
			for (int j = 1; j <= w->window; j++)
				put(w->outbox, w->count, 0, j == w->window ? v : 0);
			await_sources();
			await_data(v);
		} else {
			await_data(v);
			look(w->inbox, w->count, v);
			put(w->outbox, 1, w->count, v); // behind the message
			await_sources();
		}
	}
}

// open_pair makes memory that the other process may write to: messages, and behind them a
// byte for answers.
static void open_pair(struct work *w, const char *name)
{
	w->timed = rank == 0;
	if (!strcmp(name, "bandwidth")) {
		w->window = w->steps = window_of(w->count);
		w->batch = bandwidth_batch;
	} else if (!strcmp(name, "latency") || !strcmp(name, "delivery")) {
		w->steps = 2;
		w->looking = !strcmp(name, "delivery");
		w->batch = round_trips;
	} else {
		fail("there is no %s", name);
	}
	size_t outbox = (w->count + 1 + 63) / 64 * 64;
	w->inbox = allocate(outbox + w->count);
	w->outbox = w->inbox + outbox;
	CHECK(fi_mr_reg(domain, w->inbox, outbox + w->count, FI_REMOTE_WRITE | FI_WRITE, 0, 7, 0, &mr, NULL));
	shared->base[rank] = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)w->inbox : 0;
	shared->key[rank] = fi_mr_key(mr);
	arrived = 0;
	meet();
}

static void close_pair(struct work *w)
{
	meet();
	CHECK(fi_close(&mr->fid));
	free(w->inbox);
}

// run reads a point, OPERATION:COUNT:WAY, and measures it.
static void run(const char *text, int point)
{
	char operation[32];
	struct work w = { .steps = 1 };
	if (sscanf(text, "%31[^:]:%zu", operation, &w.count) < 2 || w.count < 1)
		fail("point \"%s\": expected OPERATION:COUNT:WAY", text);
	if (rank == 0) {
		printf("start %d\n", point);
		fflush(stdout);
	}
	open_pair(&w, operation);
	measure(&w, point);
	close_pair(&w);
}

// find asks for an endpoint of a provider, on this host if it has addresses.
static void find(const char *provider)
{
	struct fi_info *h = fi_allocinfo();
	h->ep_attr->type = FI_EP_RDM;
	h->caps = FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RMA_WAW;
	h->fabric_attr->prov_name = strdup(provider);
	uint32_t version = FI_VERSION(1, 14);
	if (fi_getinfo(version, "127.0.0.1", "0", FI_SOURCE, h, &info) && fi_getinfo(version, NULL, NULL, 0, h, &info))
		fail("provider %s is not there, or does not keep the order of writes", provider);
	fi_freeinfo(h);
}

static void setup(const char *provider)
{
	find(provider);
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
	size_t n = sizeof shared->name[rank];
	CHECK(fi_getname(&ep->fid, shared->name[rank], &n));
	meet();
	CHECK(fi_av_insert(av, shared->name[1 - rank], 1, &peer, 0, NULL));
}

// bind_to keeps this process on the i-th of the cores that it may use.
static void bind_to(int i)
{
	cpu_set_t all, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof all, &all))
		return;
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &all) && i-- == 0)
			CPU_SET(core, &one);
	sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
	enum { first = 5 };
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("libfabric %u.%u\n", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
		return 0;
	}
	if (argc <= first)
		fail("usage: fabricbench PROGRESS PROVIDER BOUND MICROSECONDS POINT...");
	threaded = !strcmp(argv[1], "thread");
	if (threaded || !strcmp(argv[1], "descriptor"))
		wait_object = FI_WAIT_FD;
	else if (strcmp(argv[1], "polling"))
		fail("PROGRESS \"%s\": expected polling, descriptor or thread", argv[1]);
	budget = atof(argv[4]) * 1e3;
	// As few as there are; providers size their queues by it.
	setenv("FI_UNIVERSE_SIZE", "2", 0);
	// Whoever started this has gone: no process is left behind.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail("no memory to share");
	signal(SIGCHLD, child_ended);
	pid_t parent = getpid(), child = fork();
	if (child < 0)
		fail("it cannot start another process");
	rank = child == 0;
	if (rank && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	if (atoi(argv[3]))
		bind_to(rank);
	setup(argv[2]);
	pthread_t thread;
	if (threaded && pthread_create(&thread, NULL, helper, NULL))
		fail("it cannot start a thread");
	for (int i = first; i < argc; i++)
		run(argv[i], i - first);
	finished = 1;
	meet();
	if (rank)
		_exit(0);
	waitpid(child, NULL, 0);
	printf("done\n");
	fflush(stdout);
	_exit(0);
}
