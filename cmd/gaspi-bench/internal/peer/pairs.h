// Ranks 0 and 1 writing to each other, by messages (way send-recv) or into each
// other's memory (way put): put, flush, put of a flag, flush, and the other looks
// at the flag, which is what a write with notification is made of in MPI.

enum { message_tag = 1, answer_tag = 2 };

// put_flag makes v appear in the other's flag, after all puts before.
static void put_flag(struct work *w, uint32_t v)
{
	MPI_Win_flush(w->other, w->win);
	MPI_Put(&v, 4, MPI_BYTE, w->other, (char *)w->flag - w->inbox, 4, MPI_BYTE, w->win);
	MPI_Win_flush(w->other, w->win);
}

// await_flag looks until the flag is v. A library without a thread of its own
// needs a call now and then to make progress. Where ranks outnumber cores, the
// other runs only if this one yields.
static void await_flag(struct work *w, uint32_t v)
{
	for (unsigned looks = 1; __atomic_load_n(w->flag, __ATOMIC_ACQUIRE) != v; looks++) {
		int there;
		MPI_Win_sync(w->win);
		if (looks % 16 == 0)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (w->task->yield)
			sched_yield();
	}
	MPI_Win_sync(w->win);
}

static void put(struct work *w)
{
	MPI_Put(w->outbox, (int)w->count, MPI_BYTE, w->other, 0, (int)w->count, MPI_BYTE, w->win);
}

static void send_message(struct work *w, uint32_t v)
{
	stamp(w->outbox, w->count, v);
	if (w->flag) {
		put(w);
		put_flag(w, v);
	} else {
		MPI_Send(w->outbox, (int)w->count, MPI_BYTE, w->other, message_tag, MPI_COMM_WORLD);
	}
}

static void receive_message(struct work *w, uint32_t v)
{
	if (w->flag)
		await_flag(w, v);
	else
		MPI_Recv(w->inbox, (int)w->count, MPI_BYTE, w->other, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (w->looking)
		look(w->inbox, w->count, v);
}

static void latency_batch(struct work *w, int n)
{
	if (w->part)
		round_trips(w, n);
}

static void send_window(struct work *w, uint32_t v)
{
	MPI_Request requests[max_window];
	stamp(w->outbox, w->count, v);
	if (w->flag) {
		for (int i = 0; i < w->window; i++)
			put(w);
		put_flag(w, v);
		await_flag(w, v);
		return;
	}
	for (int i = 0; i < w->window; i++)
		MPI_Isend(w->outbox, (int)w->count, MPI_BYTE, w->other, message_tag, MPI_COMM_WORLD, &requests[i]);
	MPI_Waitall(w->window, requests, MPI_STATUSES_IGNORE);
	MPI_Recv(w->inbox, 1, MPI_BYTE, w->other, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_window(struct work *w, uint32_t v)
{
	MPI_Request requests[max_window];
	if (w->flag) {
		await_flag(w, v);
		look(w->inbox, w->count, v);
		put_flag(w, v);
		return;
	}
	for (int i = 0; i < w->window; i++)
		MPI_Irecv(w->inbox, (int)w->count, MPI_BYTE, w->other, message_tag, MPI_COMM_WORLD, &requests[i]);
	MPI_Waitall(w->window, requests, MPI_STATUSES_IGNORE);
	look(w->inbox, w->count, v);
	MPI_Send(w->outbox, 1, MPI_BYTE, w->other, answer_tag, MPI_COMM_WORLD);
}

// bandwidth_batch is n windows of messages, each with an answer.
static void bandwidth_batch(struct work *w, int n)
{
	for (int i = 0; i < n && w->part; i++) {
		uint32_t v = ++w->sequence;
		if (rank == 0)
			send_window(w, v);
		else
			receive_window(w, v);
	}
}

// put_batch is n windows of puts that nobody looks at.
static void put_batch(struct work *w, int n)
{
	if (rank != 0)
		return;
	for (int i = 0; i < n * w->window; i++)
		put(w);
	MPI_Win_flush(w->other, w->win);
}

static void pair_close(struct work *w)
{
	if (w->flag) {
		MPI_Win_unlock_all(w->win);
		MPI_Win_free(&w->win);
	} else {
		free(w->inbox);
	}
	free(w->outbox);
}

// open_inbox makes memory that the other rank writes to: a window with a flag in
// a cache line of its own, or a buffer.
static void open_inbox(struct work *w, int with_window)
{
	if (!with_window) {
		w->inbox = allocate(w->count);
		return;
	}
	size_t flag = (w->count + 127) / 64 * 64;
	MPI_Win_allocate(flag + 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->inbox, &w->win);
	memset(w->inbox, 0, flag + 64);
	w->flag = (uint32_t *)(w->inbox + flag);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
	MPI_Win_sync(w->win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static int open_pair(struct work *w, const char *name, const char *way)
{
	int by_put = !strcmp(way, "put");
	if (!by_put && strcmp(way, "send-recv"))
		return 0;
	w->part = rank < 2;
	w->other = 1 - rank;
	w->timed = rank == 0;
	w->close = pair_close;
	if (!strcmp(name, "latency") || !strcmp(name, "delivery")) {
		w->steps = 2;
		w->looking = !strcmp(name, "delivery");
		w->batch = latency_batch;
	} else if (!strcmp(name, "bandwidth") || (by_put && !strcmp(name, "put"))) {
		w->window = w->steps = window_of(w->count);
		w->batch = strcmp(name, "put") ? bandwidth_batch : put_batch;
	} else {
		return 0;
	}
	open_inbox(w, by_put);
	w->outbox = allocate(w->count);
	return 1;
}
