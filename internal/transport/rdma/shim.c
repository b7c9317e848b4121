//go:build rdma && cgo && linux

// The library is opened at run time, so that a binary with this transport starts
// where there is none. Only the functions below are looked up in it; all others are
// inline calls through tables of the objects.

#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define API FI_VERSION(1, 14)

static struct {
	void *handle;
	int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
	void (*freeinfo)(struct fi_info *);
	struct fi_info *(*dupinfo)(const struct fi_info *);
	int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
	const char *(*strerror)(int);
	uint32_t (*version)(void);
} lib;

// What soft-RoCE's completion queues have room for, and how many sends, and
// receives, ofi_rxm wants to have under way on a connection.
enum { QUEUE_ROOM = 32767, CONNECTION_DEPTH = 128 };

static void setenv_number(const char *name, int number) {
	char text[16];
	snprintf(text, sizeof text, "%d", number);
	setenv(name, text, 0);
}

// prepare sets what providers learn from the environment alone, unless it is set
// already.
static void prepare(int peers, int low_port, int high_port) {
	// ofi_rxm keeps some 128 receives of 16 KiB ready on every connection. All
	// messages here are of 64 bytes.
	setenv("FI_OFI_RXM_BUFFER_SIZE", "512", 0);
	// Providers size their queues by the number of peers, 256 unless they are told. It
	// cannot be less: over verbs, ofi_rxm takes no more connections than that.
	setenv_number("FI_UNIVERSE_SIZE", peers);
	// The only provider whose ports can be chosen. Both ends, or none, are the user's.
	if (low_port && !getenv("FI_TCP_PORT_LOW_RANGE") && !getenv("FI_TCP_PORT_HIGH_RANGE")) {
		setenv_number("FI_TCP_PORT_LOW_RANGE", low_port);
		setenv_number("FI_TCP_PORT_HIGH_RANGE", high_port);
	}
	// Over verbs a completion queue has room for the sends and receives of all
	// connections, 128 each. Soft-RoCE has room for 32767, as some cards have for few
	// more.
	int depth = (QUEUE_ROOM / 2) / (peers > 0 ? peers : 1);
	if (depth < CONNECTION_DEPTH) {
		if (depth < 16)
			depth = 16;
		setenv_number("FI_OFI_RXM_MSG_TX_SIZE", depth);
		setenv_number("FI_OFI_RXM_MSG_RX_SIZE", depth);
	}
}

static const char *load(int peers, int low_port, int high_port) {
	static char wrong[256];
	if (lib.handle)
		return NULL;
	prepare(peers, low_port, high_port);
	// Over verbs libfabric keeps registrations by address, and learns from the C
	// library's munmap that memory is gone. Go calls the system itself: a segment at the
	// address of an earlier one would get that one's registration, and its pages.
	setenv("FI_MR_CACHE_MONITOR", "disabled", 1);
	void *h = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		snprintf(wrong, sizeof wrong, "%s", dlerror());
		return wrong;
	}
	lib.getinfo = dlsym(h, "fi_getinfo");
	lib.freeinfo = dlsym(h, "fi_freeinfo");
	lib.dupinfo = dlsym(h, "fi_dupinfo");
	lib.fabric = dlsym(h, "fi_fabric");
	lib.strerror = dlsym(h, "fi_strerror");
	lib.version = dlsym(h, "fi_version");
	if (!lib.getinfo || !lib.freeinfo || !lib.dupinfo || !lib.fabric || !lib.strerror || !lib.version) {
		dlclose(h);
		return "libfabric.so.1 lacks functions that every libfabric has";
	}
	if (FI_VERSION_LT(lib.version(), API)) {
		snprintf(wrong, sizeof wrong, "libfabric is version %u.%u; at least 1.14 is needed", FI_MAJOR(lib.version()), FI_MINOR(lib.version()));
		dlclose(h);
		return wrong;
	}
	lib.handle = h;
	return NULL;
}

const char *rf_load(int peers, int low_port, int high_port) {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	const char *wrong = load(peers, low_port, high_port);
	pthread_mutex_unlock(&lock);
	return wrong;
}

uint32_t rf_version(void) { return lib.version(); }
const char *rf_strerror(int err) { return lib.strerror(err < 0 ? -err : err); }

// A context is what a provider may use while a transfer is under way.
struct context {
	struct fi_context2 provider;
	uint32_t token;
};

// A slot holds a message that is being sent or received.
struct slot {
	struct fi_context2 provider;
	int idle; // a receive that could not be posted, or a send that has ended
	uint8_t *message;
};

enum { RECEIVES = 256, SENDS = 64 };

struct rf {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_mr *mr; // of all messages
	int wait_file;
	int idle_receives;
	uint32_t in_flight;
	struct context *contexts;
	struct slot receives[RECEIVES], sends[SENDS];
	uint8_t *messages;
};

static struct fi_info *hints_for(const char *provider) {
	struct fi_info *h = lib.dupinfo(NULL);
	if (!h)
		return NULL;
	h->ep_attr->type = FI_EP_RDM;
	// No atomics: asking for them takes the order of writes away on some providers.
	h->caps = FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	if (provider && *provider)
		h->fabric_attr->prov_name = strdup(provider);
	return h;
}

// Orders that are used where they are promised. Providers promise what they are asked
// for, some only then, so these are asked for first.
#define ORDERS (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_RMA_WAW)

static int find(const char *provider, const char *address, struct fi_info **info) {
	static const uint64_t orders[] = { ORDERS, FI_ORDER_SAS };
	int r = -FI_ENODATA;
	for (int i = 0; i < 2 && r; i++) {
		struct fi_info *h = hints_for(provider);
		if (!h)
			return -FI_ENOMEM;
		h->tx_attr->msg_order = h->rx_attr->msg_order = orders[i];
		int at = address && *address;
		r = lib.getinfo(API, at ? address : NULL, at ? "0" : NULL, at ? FI_SOURCE : 0, h, info);
		lib.freeinfo(h);
	}
	return r;
}

static int is_hardware(const char *provider) {
	static const char *const names[] = { "verbs", "efa", "cxi", "psm2", "psm3", "opx", "gni", "ucx" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(provider, names[i], strlen(names[i])))
			return 1;
	return 0;
}

int rf_list(const char *provider, struct rf_found *out, int most) {
	struct fi_info *all;
	if (find(provider, NULL, &all))
		return 0;
	int n = 0;
	for (struct fi_info *i = all; i && n < most; i = i->next) {
		struct rf_found *o = &out[n++];
		memset(o, 0, sizeof *o);
		snprintf(o->provider, sizeof o->provider, "%s", i->fabric_attr->prov_name);
		snprintf(o->device, sizeof o->device, "%s", i->domain_attr->name ? i->domain_attr->name : "");
		o->usable_hardware = is_hardware(o->provider);
	}
	lib.freeinfo(all);
	return n;
}

static void post_receive(rf *f, struct slot *s) {
	ssize_t r = fi_recv(f->ep, s->message, RF_MESSAGE, f->mr ? fi_mr_desc(f->mr) : NULL, FI_ADDR_UNSPEC, s);
	s->idle = r != 0;
	f->idle_receives += s->idle;
}

static int fail(char *wrong, size_t size, const char *what, const char *provider, int r) {
	snprintf(wrong, size, "%s of provider %s: %s", what, provider, rf_strerror(r));
	return r;
}

static int open_queue(rf *f) {
	struct fi_cq_attr a = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	a.size = f->in_flight + RECEIVES + SENDS + 1024; // the last for data that arrives
	f->wait_file = -1;
	int r = fi_cq_open(f->domain, &a, &f->cq, NULL);
	if (!r && !fi_control(&f->cq->fid, FI_GETWAIT, &f->wait_file))
		return 0;
	if (!r)
		fi_close(&f->cq->fid);
	f->wait_file = -1;
	a.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(f->domain, &a, &f->cq, NULL);
}

// bind_region makes an endpoint-bound region usable.
static int bind_region(rf *f, struct fid_mr *mr) {
	if (!(f->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
		return 0;
	int r = fi_mr_bind(mr, &f->ep->fid, 0);
	return r ? r : fi_mr_enable(mr);
}

static int open_messages(rf *f) {
	size_t size = (RECEIVES + SENDS) * RF_MESSAGE;
	if (posix_memalign((void **)&f->messages, 4096, size))
		return -FI_ENOMEM;
	if (f->info->domain_attr->mr_mode & FI_MR_LOCAL) {
		int r = fi_mr_reg(f->domain, f->messages, size, FI_SEND | FI_RECV, 0, 0, 0, &f->mr, NULL);
		if (r || (r = bind_region(f, f->mr)))
			return r;
	}
	for (int i = 0; i < SENDS; i++) {
		f->sends[i].message = f->messages + i * RF_MESSAGE;
		f->sends[i].idle = 1;
	}
	for (int i = 0; i < RECEIVES; i++) {
		f->receives[i].message = f->messages + (SENDS + i) * RF_MESSAGE;
		post_receive(f, &f->receives[i]);
	}
	return f->idle_receives == RECEIVES ? -FI_EAGAIN : 0;
}

static void tell(const rf *f, struct rf_traits *t) {
	const struct fi_info *i = f->info;
	snprintf(t->provider, sizeof t->provider, "%s", i->fabric_attr->prov_name);
	snprintf(t->device, sizeof t->device, "%s", i->domain_attr->name ? i->domain_attr->name : "");
	t->version = lib.version();
	t->inject = i->tx_attr->inject_size;
	t->transfer = i->ep_attr->max_msg_size;
	uint64_t both = i->tx_attr->msg_order & i->rx_attr->msg_order;
	t->ordered_writes = both & (FI_ORDER_WAW | FI_ORDER_RMA_WAW) ? i->ep_attr->max_order_waw_size : 0;
	t->send_after_write = (both & FI_ORDER_SAW) != 0;
	t->in_flight = f->in_flight;
	t->data_bits = 8 * i->domain_attr->cq_data_size;
	t->local_keys = (i->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
}

rf *rf_open(const char *provider, const char *address, int peers, struct rf_traits *t, char *wrong, size_t size) {
	rf *f = calloc(1, sizeof *f);
	if (!f) {
		fail(wrong, size, "memory", provider, FI_ENOMEM);
		return NULL;
	}
	f->wait_file = -1;
	const char *what = "fi_getinfo";
	int r = find(provider, address, &f->info);
	if (r)
		goto bad;
	f->in_flight = f->info->tx_attr->size;
	if (f->in_flight > 1024)
		f->in_flight = 1024;
	if (f->in_flight < 1)
		f->in_flight = 1;
	tell(f, t);
	f->contexts = calloc(f->in_flight, sizeof *f->contexts);
	for (uint32_t i = 0; f->contexts && i < f->in_flight; i++)
		f->contexts[i].token = i;
	struct fi_av_attr av = { .type = FI_AV_UNSPEC, .count = peers };
#define STEP(name, call) \
	if (what = name, (r = (call))) \
	goto bad
	STEP("memory", f->contexts ? 0 : -FI_ENOMEM);
	STEP("fi_fabric", lib.fabric(f->info->fabric_attr, &f->fabric, NULL));
	STEP("fi_domain", fi_domain(f->fabric, f->info, &f->domain, NULL));
	STEP("fi_cq_open", open_queue(f));
	STEP("fi_av_open", fi_av_open(f->domain, &av, &f->av, NULL));
	STEP("fi_endpoint", fi_endpoint(f->domain, f->info, &f->ep, NULL));
	STEP("fi_ep_bind", fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV));
	STEP("fi_ep_bind", fi_ep_bind(f->ep, &f->av->fid, 0));
	STEP("fi_enable", fi_enable(f->ep));
	STEP("the receives", open_messages(f));
#undef STEP
	return f;
bad:
	fail(wrong, size, what, provider && *provider ? provider : "(any)", r);
	rf_close(f);
	return NULL;
}

int rf_name(rf *f, void *name, size_t *size) { return fi_getname(&f->ep->fid, name, size); }

int rf_insert(rf *f, const void *name, uint64_t *peer) {
	int r = fi_av_insert(f->av, name, 1, peer, 0, NULL);
	return r == 1 ? 0 : r < 0 ? r : -FI_EINVAL;
}

int rf_register(rf *f, uintptr_t mem, size_t size, uint64_t key, void **mr, uint64_t *got, uint64_t *base) {
	const struct fi_domain_attr *a = f->info->domain_attr;
	if (a->mr_mode & FI_MR_PROV_KEY)
		key = 0;
	else if (a->mr_key_size && a->mr_key_size < 8)
		key &= (1ull << 8 * a->mr_key_size) - 1;
	struct fid_mr *m;
	int r = fi_mr_reg(f->domain, (void *)mem, size, FI_REMOTE_WRITE | FI_REMOTE_READ | FI_WRITE | FI_READ, 0, key, 0, &m, NULL);
	if (r)
		return r;
	if ((r = bind_region(f, m))) {
		fi_close(&m->fid);
		return r;
	}
	*mr = m;
	*got = fi_mr_key(m);
	*base = a->mr_mode & FI_MR_VIRT_ADDR ? mem : 0;
	return 0;
}

int rf_unregister(void *mr) { return fi_close(&((struct fid_mr *)mr)->fid); }

static int result(ssize_t r) { return r == -FI_EAGAIN ? RF_AGAIN : r; }

int rf_move(rf *f, uint64_t peer, uintptr_t mem, size_t size, void *mr, uint64_t remote, uint64_t key, uint64_t data, uint32_t token, int flags) {
	void *at = (void *)mem;
	void *desc = mr ? fi_mr_desc(mr) : NULL;
	if (flags & RF_INJECT) {
		if (flags & RF_WITH_DATA)
			return result(fi_inject_writedata(f->ep, at, size, data, peer, remote, key));
		return result(fi_inject_write(f->ep, at, size, peer, remote, key));
	}
	void *context = &f->contexts[token].provider;
	if (flags & RF_READ)
		return result(fi_read(f->ep, at, size, desc, peer, remote, key, context));
	if (!(flags & RF_CONFIRMED)) {
		if (flags & RF_WITH_DATA)
			return result(fi_writedata(f->ep, at, size, desc, data, peer, remote, key, context));
		return result(fi_write(f->ep, at, size, desc, peer, remote, key, context));
	}
	struct iovec local = { .iov_base = at, .iov_len = size };
	struct fi_rma_iov there = { .addr = remote, .len = size, .key = key };
	struct fi_msg_rma m = {
		.msg_iov = &local, .desc = &desc, .iov_count = 1, .addr = peer,
		.rma_iov = &there, .rma_iov_count = 1, .context = context, .data = data,
	};
	uint64_t how = FI_COMPLETION | FI_DELIVERY_COMPLETE;
	if (flags & RF_WITH_DATA)
		how |= FI_REMOTE_CQ_DATA;
	return result(fi_writemsg(f->ep, &m, how));
}

int rf_send(rf *f, uint64_t peer, uintptr_t message) {
	if (f->info->tx_attr->inject_size >= RF_MESSAGE)
		return result(fi_inject(f->ep, (void *)message, RF_MESSAGE, peer));
	for (int i = 0; i < SENDS; i++) {
		struct slot *s = &f->sends[i];
		if (!s->idle)
			continue;
		memcpy(s->message, (void *)message, RF_MESSAGE);
		ssize_t r = fi_send(f->ep, s->message, RF_MESSAGE, f->mr ? fi_mr_desc(f->mr) : NULL, peer, s);
		s->idle = r != 0;
		return result(r);
	}
	return RF_AGAIN;
}

// is_slot reports whether a context is one of n slots.
static int is_slot(const struct slot *slots, int n, const void *context) {
	return (uintptr_t)context - (uintptr_t)slots < n * sizeof *slots;
}

static uint32_t token_of(const rf *f, const void *context) {
	uintptr_t at = (uintptr_t)context - (uintptr_t)f->contexts;
	return context && at < f->in_flight * sizeof *f->contexts ? ((const struct context *)context)->token : ~0u;
}

// note_error turns the error that the queue holds into an event. It returns 0 if it is
// nobody's concern.
static int note_error(rf *f, struct rf_event *e) {
	struct fi_cq_err_entry bad;
	memset(&bad, 0, sizeof bad);
	if (fi_cq_readerr(f->cq, &bad, 0) != 1)
		return 0;
	if (is_slot(f->receives, RECEIVES, bad.op_context)) {
		post_receive(f, bad.op_context);
		return 0;
	}
	e->kind = RF_FAILED;
	e->err = bad.err;
	e->provider_err = bad.prov_errno;
	if (is_slot(f->sends, SENDS, bad.op_context)) {
		((struct slot *)bad.op_context)->idle = 1;
		e->token = ~0u;
	} else {
		e->token = token_of(f, bad.op_context);
	}
	return 1;
}

// note turns a completion into an event, or returns 0 if it is nobody's concern.
static int note(rf *f, const struct fi_cq_data_entry *c, struct rf_event *e) {
	if (is_slot(f->receives, RECEIVES, c->op_context) && c->flags & FI_RECV) {
		struct slot *s = c->op_context;
		int whole = c->len == RF_MESSAGE;
		e->kind = RF_MESSAGE_IN;
		memcpy(e->message, s->message, RF_MESSAGE);
		post_receive(f, s);
		return whole;
	}
	if (c->flags & FI_REMOTE_CQ_DATA) {
		e->kind = RF_DATA;
		e->data = c->data;
		return 1;
	}
	if (is_slot(f->sends, SENDS, c->op_context)) {
		((struct slot *)c->op_context)->idle = 1;
		return 0;
	}
	e->kind = RF_DONE;
	e->token = token_of(f, c->op_context);
	return e->token != ~0u;
}

int rf_poll(rf *f, struct rf_event *out, int most) {
	struct fi_cq_data_entry entries[32];
	if (most > 32)
		most = 32;
	for (int i = 0; f->idle_receives && i < RECEIVES; i++)
		if (f->receives[i].idle) {
			f->idle_receives--;
			post_receive(f, &f->receives[i]);
		}
	int n = 0;
	for (int looks = 0; !n && looks < 8; looks++) { // what is nobody's concern does not count
		ssize_t r = fi_cq_read(f->cq, entries, most);
		if (r == -FI_EAGAIN || r == 0)
			break;
		if (r == -FI_EAVAIL) {
			n = note_error(f, out);
		} else if (r < 0) {
			out->kind = RF_BROKEN;
			out->err = -r;
			n = 1;
		}
		for (int i = 0; i < r; i++)
			n += note(f, &entries[i], &out[n]);
	}
	return n;
}

int rf_wait_file(rf *f) { return f->wait_file; }

int rf_arm(rf *f) {
	struct fid *q = &f->cq->fid;
	// Nothing tells when a receive can be posted again.
	return f->wait_file >= 0 && !f->idle_receives && fi_trywait(f->fabric, &q, 1) == 0;
}

void rf_close(rf *f) {
	if (f->ep)
		fi_close(&f->ep->fid);
	if (f->mr)
		fi_close(&f->mr->fid);
	if (f->av)
		fi_close(&f->av->fid);
	if (f->cq)
		fi_close(&f->cq->fid);
	if (f->domain)
		fi_close(&f->domain->fid);
	if (f->fabric)
		fi_close(&f->fabric->fid);
	if (f->info)
		lib.freeinfo(f->info);
	free(f->contexts);
	free(f->messages);
	free(f);
}
