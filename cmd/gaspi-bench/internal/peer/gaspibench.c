//go:build ignore

// gaspibench measures the library for C of this project, as mpibench does MPI: the same lines, and
// the same rules. Package peer of gaspi-bench compiles it and starts it by gaspi-run.
//
// usage: gaspibench MICROSECONDS POINT...
// where a POINT is OPERATION:COUNT:WAY, COUNT bytes in a message.

#include <GASPI.h>

#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static gaspi_rank_t rank, ranks;

// fail ends the job with one sentence.
static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "gaspibench: rank %d: ", rank);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

// must ends the job if a call has not succeeded.
static void must(const char *call, gaspi_return_t code)
{
	if (code != GASPI_SUCCESS)
		fail("%s: return code %d", call, (int)code);
}

#include "memory.h"

struct work {
	size_t count; // bytes of a message
	int timed;    // this rank's clock counts; where several do, the slowest
	int steps;    // operations in a round

	void (*batch)(struct work *, int n);
	void (*fill)(struct work *); // null: batches see to that
	void (*check)(struct work *);

	int part, looking, tries, window;
	uint32_t sequence;
	char *inbox, *outbox; // both in one segment
};

#include "message.h"

enum { segment, queue = 0, arrived = 0, answered };

static void meet(void) { must("gaspi_barrier", gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK)); }

static void slowest_of(const double *mine, double *most, int n)
{
	gaspi_number_t together;
	must("gaspi_allreduce_elem_max", gaspi_allreduce_elem_max(&together));
	for (int i = 0, count; i < n; i += count) {
		count = n - i < (int)together ? n - i : (int)together;
		must("gaspi_allreduce", gaspi_allreduce((gaspi_pointer_t)(mine + i), most + i, (gaspi_number_t)count,
			GASPI_OP_MAX, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK));
	}
}

static double total_of(double mine)
{
	double all;
	must("gaspi_allreduce", gaspi_allreduce(&mine, &all, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK));
	return all;
}

#include "measure.h"

static void settle(void) { must("gaspi_wait", gaspi_wait(queue, GASPI_BLOCK)); }

// await waits for a notification and takes it.
static gaspi_notification_t await(gaspi_notification_id_t id)
{
	gaspi_notification_id_t got;
	gaspi_notification_t value;
	must("gaspi_notify_waitsome", gaspi_notify_waitsome(segment, id, 1, &got, GASPI_BLOCK));
	must("gaspi_notify_reset", gaspi_notify_reset(segment, id, &value));
	return value;
}

static void send_message(struct work *w, uint32_t v)
{
	stamp(w->outbox, w->count, v);
	must("gaspi_write_notify", gaspi_write_notify(segment, (gaspi_offset_t)(w->outbox - w->inbox), (gaspi_rank_t)(1 - rank),
		segment, 0, w->count, arrived, v, queue, GASPI_BLOCK));
	settle();
}

static void receive_message(struct work *w, uint32_t v)
{
	gaspi_notification_t got = await(arrived);
	if (got != v)
		fail("notification %u arrived, want %u", got, v);
	if (w->looking)
		look(w->inbox, w->count, v);
}

static void latency_batch(struct work *w, int n)
{
	if (w->part)
		round_trips(w, n);
}

// bandwidth_batch is n windows of writes, each with an answer.
static void bandwidth_batch(struct work *w, int n)
{
	gaspi_rank_t other = (gaspi_rank_t)(1 - rank);
	for (int i = 0; i < n && w->part; i++) {
		uint32_t v = ++w->sequence;
		if (rank == 1) {
			receive_message(w, v);
			look(w->inbox, w->count, v);
			must("gaspi_notify", gaspi_notify(segment, other, answered, v, queue, GASPI_BLOCK));
			settle();
			continue;
		}
		stamp(w->outbox, w->count, v);
		for (int m = 1; m < w->window; m++)
			must("gaspi_write", gaspi_write(segment, (gaspi_offset_t)(w->outbox - w->inbox), other, segment, 0, w->count, queue, GASPI_BLOCK));
		send_message(w, v);
		if (await(answered) != v)
			fail("window %u was answered with another number", v);
	}
}

static void barrier_batch(struct work *w, int n)
{
	(void)w;
	for (int i = 0; i < n; i++)
		meet();
}

// run reads a point, OPERATION:COUNT:WAY, and measures it.
static void run(const char *text, int point)
{
	char operation[32];
	struct work w = {.timed = 1, .steps = 1, .batch = barrier_batch};
	if (sscanf(text, "%31[^:]:%zu:", operation, &w.count) < 2)
		fail("point \"%s\": expected OPERATION:COUNT:WAY", text);
	if (rank == 0) {
		printf("start %d\n", point);
		fflush(stdout);
	}
	if (!strcmp(operation, "barrier")) {
		measure(&w, point);
		return;
	}
	gaspi_pointer_t memory;
	gaspi_size_t stride = (w.count + 4095) / 4096 * 4096;
	must("gaspi_segment_create", gaspi_segment_create(segment, 2 * stride, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
	must("gaspi_segment_ptr", gaspi_segment_ptr(segment, &memory));
	w.inbox = memory;
	w.outbox = w.inbox + stride;
	w.part = rank < 2;
	w.timed = rank == 0;
	if (!strcmp(operation, "latency") || !strcmp(operation, "delivery")) {
		w.steps = 2;
		w.looking = !strcmp(operation, "delivery");
		w.batch = latency_batch;
	} else if (!strcmp(operation, "bandwidth")) {
		w.window = w.steps = window_of(w.count);
		w.batch = bandwidth_batch;
	} else {
		fail("there is no %s", operation);
	}
	measure(&w, point);
	meet();
	must("gaspi_segment_delete", gaspi_segment_delete(segment));
	meet();
}

int main(int argc, char **argv)
{
	enum { first = 2 };
	if (argc <= first) {
		fprintf(stderr, "gaspibench: usage: gaspibench MICROSECONDS POINT...\n");
		return 2;
	}
	must("gaspi_proc_init", gaspi_proc_init(GASPI_BLOCK));
	must("gaspi_proc_rank", gaspi_proc_rank(&rank));
	must("gaspi_proc_num", gaspi_proc_num(&ranks));
	budget = atof(argv[1]) * 1e3;
	for (int i = first; i < argc; i++)
		run(argv[i], i - first);
	if (rank == 0) {
		printf("done\n");
		fflush(stdout);
	}
	must("gaspi_proc_term", gaspi_proc_term(GASPI_BLOCK));
	return 0;
}
