// Collective operations as points.

// A collective is one call, and what each rank has afterwards.
struct collective {
	const char *name;
	int reduces;
	int can_be_in_place; // where gaspi-bench's operation is in place
	int in_blocks, out_blocks; // per rank, where vectors consist of blocks
	void (*call)(struct work *);
	// want is element i of this rank's result; it is called where result says so.
	double (*want)(struct work *, size_t i);
	enum { everywhere, at_root, not_at_0 } result;
};

#define COMM MPI_COMM_WORLD
#define IN(w) ((w)->in_place ? MPI_IN_PLACE : (w)->in)
#define COUNT(w) ((int)(w)->count)
#define TYPE(w) ((w)->task->dtype)

// allreduce_segments reduces segments that are under way together, each by a call of its own.
static void allreduce_segments(struct work *w)
{
	MPI_Request requests[MAX_SEGMENTS];
	for (int i = 0; i < w->segments; i++) {
		size_t from = w->count * i / w->segments, to = w->count * (i + 1) / w->segments;
		size_t at = from * w->task->size;
		const void *in = w->in_place ? MPI_IN_PLACE : (char *)w->in + at;
		MPI_Iallreduce(in, (char *)w->out + at, (int)(to - from), TYPE(w), w->task->op, COMM, &requests[i]);
	}
	MPI_Waitall(w->segments, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(struct work *w)
{
	if (w->segments > 1)
		allreduce_segments(w);
	else
		MPI_Allreduce(IN(w), w->out, COUNT(w), TYPE(w), w->task->op, COMM);
}

static void scan(struct work *w) { MPI_Scan(IN(w), w->out, COUNT(w), TYPE(w), w->task->op, COMM); }
static void exscan(struct work *w) { MPI_Exscan(IN(w), w->out, COUNT(w), TYPE(w), w->task->op, COMM); }
static void broadcast(struct work *w) { MPI_Bcast(w->out, COUNT(w), TYPE(w), w->task->root, COMM); }
static void barrier(struct work *w) { (void)w; MPI_Barrier(COMM); }

static void reduce(struct work *w)
{
	// In place means the root; the others contribute from where they have it.
	const void *in = !w->in_place ? w->in : rank == w->task->root ? MPI_IN_PLACE : w->out;
	MPI_Reduce(in, w->out, COUNT(w), TYPE(w), w->task->op, w->task->root, COMM);
}

static void reducescatter(struct work *w)
{
	MPI_Reduce_scatter_block(w->in, w->out, COUNT(w), TYPE(w), w->task->op, COMM);
}

static void allgather(struct work *w) { MPI_Allgather(w->in, COUNT(w), TYPE(w), w->out, COUNT(w), TYPE(w), COMM); }
static void alltoall(struct work *w) { MPI_Alltoall(w->in, COUNT(w), TYPE(w), w->out, COUNT(w), TYPE(w), COMM); }

static void gather(struct work *w)
{
	MPI_Gather(w->in, COUNT(w), TYPE(w), w->out, COUNT(w), TYPE(w), w->task->root, COMM);
}

static void scatter(struct work *w)
{
	MPI_Scatter(w->in, COUNT(w), TYPE(w), w->out, COUNT(w), TYPE(w), w->task->root, COMM);
}

static double want_all(struct work *w, size_t i) { return folded(w->task, 0, ranks - 1, i, w->tries); }
static double want_upto(struct work *w, size_t i) { return folded(w->task, 0, rank, i, w->tries); }
static double want_before(struct work *w, size_t i) { return folded(w->task, 0, rank - 1, i, w->tries); }

static double want_block(struct work *w, size_t i)
{
	return folded(w->task, 0, ranks - 1, rank * w->count + i, w->tries);
}

static double want_roots(struct work *w, size_t i) { return contribution(w->task, 0, w->task->root, i, w->tries); }

static double want_roots_block(struct work *w, size_t i)
{
	return contribution(w->task, 0, w->task->root, rank * w->count + i, w->tries);
}

static double want_each(struct work *w, size_t i)
{
	return contribution(w->task, 0, i / w->count, i % w->count, w->tries);
}

static double want_mine_of_each(struct work *w, size_t i)
{
	return contribution(w->task, 0, i / w->count, rank * w->count + i % w->count, w->tries);
}

static const struct collective collectives[] = {
	{"allreduce", 1, 1, 0, 0, allreduce, want_all, everywhere},
	{"reduce", 1, 1, 0, 0, reduce, want_all, at_root},
	{"scan", 1, 1, 0, 0, scan, want_upto, everywhere},
	{"exscan", 1, 1, 0, 0, exscan, want_before, not_at_0},
	{"reducescatter", 1, 0, 1, 0, reducescatter, want_block, everywhere},
	{"broadcast", 0, 0, 0, 0, broadcast, want_roots, everywhere},
	{"allgather", 0, 0, 0, 1, allgather, want_each, everywhere},
	{"gather", 0, 0, 0, 1, gather, want_each, at_root},
	{"scatter", 0, 0, 1, 0, scatter, want_roots_block, everywhere},
	{"alltoall", 0, 0, 1, 1, alltoall, want_mine_of_each, everywhere},
	{"barrier", 0, 0, 0, 0, barrier, 0, everywhere},
};

static void collective_batch(struct work *w, int n)
{
	for (int i = 0; i < n; i++)
		w->collective->call(w);
}

// collective_fill writes what this rank contributes, and elsewhere what is not
// the result.
static void collective_fill(struct work *w)
{
	const struct task *t = w->task;
	if (w->in != w->out)
		for (size_t i = 0; i < w->out_count; i++)
			t->set(w->out, i, (i + 1) % 2);
	for (size_t i = 0; i < w->in_count; i++)
		t->set(w->in, i, contribution(t, w->collective->reduces, rank, i, w->tries));
}

static void collective_check(struct work *w)
{
	const struct collective *c = w->collective;
	if ((c->result == at_root && rank != w->task->root) || (c->result == not_at_0 && rank == 0))
		return;
	for (size_t i = 0; i < w->out_count; i++) {
		double got = w->task->get(w->out, i), want = c->want(w, i);
		if (got != want)
			fail("%s of %s: %g at element %zu in iteration %d, want %g", c->name, w->task->dtype_name, got, i,
			     w->tries, want);
	}
}

static void collective_close(struct work *w)
{
	if (w->in != w->out)
		free(w->in);
	free(w->out);
}

// segments_of reads the number behind the x of a way, such as in-place-x4; 1 if there is none.
static int segments_of(const char *way)
{
	const char *x = strstr(way, "-x");
	return x ? atoi(x + 2) : 1;
}

static int open_collective(struct work *w, const char *name, const char *way)
{
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
		const struct collective *c = &collectives[i];
		if (strcmp(name, c->name))
			continue;
		w->collective = c;
		w->in_place = !strncmp(way, "in-place", strlen("in-place"));
		w->segments = segments_of(way);
		if (w->segments < 1 || w->segments > MAX_SEGMENTS || (w->segments > 1 && c->call != allreduce))
			return 0;
		if (w->in_place && !c->can_be_in_place)
			return 0;
		w->in_count = w->count * (c->in_blocks ? ranks : 1);
		w->out_count = w->count * (c->out_blocks ? ranks : 1);
		w->out = allocate(w->out_count * w->task->size);
		// The vector of a broadcast is one, like those in place.
		int one = w->in_place || c->call == broadcast;
		w->in = one ? w->out : allocate(w->in_count * w->task->size);
		w->batch = collective_batch;
		w->close = collective_close;
		if (c->want) {
			w->fill = collective_fill;
			w->check = collective_check;
		}
		return 1;
	}
	return 0;
}
