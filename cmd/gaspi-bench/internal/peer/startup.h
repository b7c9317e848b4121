// How the job started. Whoever includes this has rank and slowest_of.

static double joined, met; // nanoseconds since the job was begun, of the last rank

static double since(long long began)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (t.tv_sec * 1000000000LL + t.tv_nsec) - began;
}

// is_startup reports whether a point is a part of the start.
static int is_startup(const char *operation)
{
	return !strncmp(operation, "init:", 5) || !strncmp(operation, "first-barrier:", 14) || !strncmp(operation, "started:", 8);
}

// note_startup is the first that a rank does which has joined, if a point is a part of the start.
static void note_startup(char **points)
{
	while (*points && !is_startup(*points))
		points++;
	if (!*points)
		return;
	const char *began = getenv("GASPI_BENCH_BEGAN");
	if (!began)
		fail("GASPI_BENCH_BEGAN: expected when the job was begun");
	double mine[2], last[2];
	mine[0] = since(atoll(began));
	meet();
	mine[1] = since(atoll(began));
	slowest_of(mine, last, 2);
	joined = last[0];
	met = last[1];
}

// tell_startup prints a part of the start as a point of one block.
static void tell_startup(const char *operation, int point)
{
	if (rank == 0) {
		printf("start %d\n", point);
		printf("times %d 1 %.0f\n", point, operation[0] == 's' ? met : operation[0] == 'i' ? joined : met - joined);
		fflush(stdout);
	}
}
