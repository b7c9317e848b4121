// The rules of gaspi-bench's measure.go. Whoever includes this has rank, allocate, meet,
// slowest_of, which leaves the longest times of all ranks to all of them, total_of, which
// returns the sum of a number of all ranks to all of them, and a struct work with
// batch, fill, check, timed, steps and tries.

static const double block_time = 500e3; // nanoseconds
enum { min_blocks = 15, max_blocks = 4000, max_batch = 1 << 20 };

// So many blocks are run at most before their length counts.
enum { warm_blocks = 12 };

#include <sys/resource.h>

static double budget; // nanoseconds for a point
static int verify;    // every operation is checked

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

// processors is the processor time that this process has used.
static double processors(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

// try_once does one operation with fresh inputs, and checks its result.
static double try_once(struct work *w)
{
	w->tries++;
	w->fill(w);
	meet();
	double start = now();
	w->batch(w, 1);
	double took = now() - start;
	w->check(w);
	return took;
}

// block is the time of one batch here, 0 where this rank's clock does not count.
static double block(struct work *w, int n)
{
	if (verify && w->fill)
		return try_once(w);
	meet();
	double start = now();
	w->batch(w, n);
	return w->timed ? now() - start : 0;
}

// slowest is the longest time of all ranks, for all of them.
static double slowest(double mine)
{
	double most;
	slowest_of(&mine, &most, 1);
	return most;
}

// shortest is how long the shortest of a few blocks takes the slowest rank: of two if that is too short to be
// measured or long anyway, else of warm_blocks.
static double shortest(struct work *w, int n, double enough)
{
	double least = slowest(block(w, n));
	for (int run = 1; run < warm_blocks && (run < 2 || (least >= enough && least < 2 * block_time)); run++) {
		double took = slowest(block(w, n));
		if (took < least)
			least = took;
	}
	return least;
}

// calibrate finds how many rounds fill a block, and how long that takes.
static int calibrate(struct work *w, double *took)
{
	double enough = (block_time < budget ? block_time : budget) / 2;
	if (verify && w->fill) {
		*took = slowest(try_once(w));
		return 1;
	}
	for (int n = 1;; n *= 2) {
		*took = shortest(w, n, enough);
		if (*took >= enough || n >= max_batch)
			return n;
	}
}

// measure times a point and prints its blocks.
static void measure(struct work *w, int point)
{
	if (w->fill)
		try_once(w);
	double took;
	int n = calibrate(w, &took);
	double fit = budget / (took > 1 ? took : 1);
	int blocks = fit < min_blocks ? min_blocks : fit > max_blocks ? max_blocks : (int)fit;
	double *mine = allocate(blocks * sizeof *mine), *most = allocate(blocks * sizeof *most);
	double before = processors();
	for (int i = 0; i < blocks; i++)
		mine[i] = block(w, n);
	double used = total_of(processors() - before);
	slowest_of(mine, most, blocks);
	if (w->fill)
		try_once(w);
	if (rank == 0) {
		printf("used %d %.0f\n", point, used);
		printf("times %d %d", point, n * w->steps);
		for (int i = 0; i < blocks; i++)
			printf(" %.0f", most[i]);
		printf("\n");
		fflush(stdout);
	}
	free(mine);
	free(most);
}
