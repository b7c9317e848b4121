// What the threads and TCP connections of ranks meet in the kernel: how long threads wait for a
// processor, how long data waits for the thread that it wakes, and when segments are sent again.
//
// Programs hang on typed raw tracepoints, which need CAP_BPF and CAP_PERFMON, and no tracefs. Only the
// fields below are declared; the loader finds their places in the kernel that runs.

//go:build ignore

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef int s32;
typedef long long s64;
typedef u64 __u64;
typedef u32 __u32;
typedef u16 __u16;
typedef s64 __s64;
typedef s32 __s32;
typedef u8 __u8;
typedef _Bool bool;

enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_PERCPU_ARRAY = 6, BPF_MAP_TYPE_LRU_HASH = 9, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define FIELDS __attribute__((preserve_access_index))

struct task_struct {
	int pid;
	int tgid;
	unsigned int __state;
} FIELDS;

// Before Linux 5.14 the field had another name and size.
struct task_struct___old {
	volatile long state;
} FIELDS;

struct sock_common {
	u16 skc_num;
} FIELDS;

struct sock {
	struct sock_common __sk_common;
} FIELDS;

char __license[] SEC("license") = "Dual MIT/GPL";

// Buckets of a histogram: bucket n counts times from 2^n ns to less than 2^(n+1), the last one all that are longer.
#define BUCKETS 36

struct rank_times {
	u64 run[BUCKETS];  // from being able to run to running
	u64 wake[BUCKETS]; // from the arrival of data to running of the thread that it has woken
	u64 resent;        // segments
};

// A resend is told for each segment that is sent again.
struct resend {
	u64 at; // ns of the monotonic clock
	u32 process;
	u32 port; // of this side
};

// ranks are the processes of ranks, which the loader adds.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct rank_times);
} ranks SEC(".maps");

// A waking is a thread that could run.
struct waking {
	u64 since;
	u64 arrival; // of the data that has woken it; 0 for none
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct waking);
} wakings SEC(".maps");

// owners are the processes of ranks that data of these sockets has woken.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u32);
} owners SEC(".maps");

// An arrival is data that the processor handles.
struct arrival {
	u64 at; // 0 once it has woken a thread
	u64 socket;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct arrival);
} arrivals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} resends SEC(".maps");

// Data wakes a thread within so many nanoseconds of its arrival, on the processor that handles it: the steps
// between are those of one softirq.
#define WAKES_WITHIN 10000

static __always_inline u32 bucket_of(u64 ns)
{
	u32 n = 0;
#pragma unroll
	for (int bits = 32; bits; bits >>= 1)
		if (ns >> bits) {
			ns >>= bits;
			n += bits;
		}
	return n < BUCKETS ? n : BUCKETS - 1;
}

// A thread is about to be woken, in the context of whoever wakes it.
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	u32 thread = p->pid, process = p->tgid, zero = 0;
	if (!bpf_map_lookup_elem(&ranks, &process))
		return 0;
	struct waking w = {.since = bpf_ktime_get_ns()};
	struct arrival *a = bpf_map_lookup_elem(&arrivals, &zero);
	if (a && a->at && w.since - a->at < WAKES_WITHIN) {
		w.arrival = a->at;
		a->at = 0;
		u64 socket = a->socket;
		u32 *owner = bpf_map_lookup_elem(&owners, &socket);
		if (!owner || *owner != process)
			bpf_map_update_elem(&owners, &socket, &process, BPF_ANY);
	}
	bpf_map_update_elem(&wakings, &thread, &w, BPF_ANY);
	return 0;
}

static __always_inline int is_running(struct task_struct *p)
{
	if (bpf_core_field_exists(p->__state))
		return p->__state == 0;
	return BPF_CORE_READ((struct task_struct___old *)p, state) == 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *from, struct task_struct *to)
{
	u32 thread = from->pid, process = from->tgid;
	if ((preempted || is_running(from)) && bpf_map_lookup_elem(&ranks, &process)) {
		struct waking off = {.since = bpf_ktime_get_ns()};
		bpf_map_update_elem(&wakings, &thread, &off, BPF_ANY);
	}
	thread = to->pid, process = to->tgid;
	struct rank_times *t = bpf_map_lookup_elem(&ranks, &process);
	if (!t)
		return 0;
	struct waking *w = bpf_map_lookup_elem(&wakings, &thread);
	if (!w)
		return 0;
	u64 now = bpf_ktime_get_ns();
	__sync_fetch_and_add(&t->run[bucket_of(now - w->since)], 1);
	if (w->arrival)
		__sync_fetch_and_add(&t->wake[bucket_of(now - w->arrival)], 1);
	bpf_map_delete_elem(&wakings, &thread);
	return 0;
}

// A segment has arrived at a socket. This is all that is done for each message.
SEC("tp_btf/tcp_probe")
int BPF_PROG(on_arrival, struct sock *sk)
{
	u32 zero = 0;
	struct arrival *a = bpf_map_lookup_elem(&arrivals, &zero);
	if (a) {
		a->at = bpf_ktime_get_ns();
		a->socket = (u64)sk;
	}
	return 0;
}

// A segment is sent again. Sockets whose data has woken nobody yet are nobody's.
SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_resend, struct sock *sk)
{
	u64 key = (u64)sk;
	u32 *owner = bpf_map_lookup_elem(&owners, &key);
	if (!owner)
		return 0;
	u32 process = *owner;
	struct rank_times *t = bpf_map_lookup_elem(&ranks, &process);
	if (!t)
		return 0;
	__sync_fetch_and_add(&t->resent, 1);
	struct resend *r = bpf_ringbuf_reserve(&resends, sizeof(*r), 0);
	if (!r)
		return 0; // it is counted all the same
	r->at = bpf_ktime_get_ns();
	r->process = process;
	r->port = sk->__sk_common.skc_num;
	bpf_ringbuf_submit(r, 0);
	return 0;
}
