//go:build ignore

// mpibench measures operations of an MPI library by the rules of gaspi-bench:
// blocks of operations back to back, about half a millisecond each, after a
// barrier; the time of a block is that of the slowest rank. Package peer of
// gaspi-bench compiles it, starts it by mpirun, and reads what rank 0 prints:
//
//	start I              point I begins
//	used I T             processor nanoseconds of all ranks for its blocks
//	times I N T T T ...  nanoseconds of its blocks, of N operations each
//	done                 there are no more points
//
// usage: mpibench DTYPE OP ROOT MOST MICROSECONDS VERIFY YIELD POINT...
// where a POINT is OPERATION:COUNT:WAY, COUNT elements in a vector, or in a
// block where there are blocks, and bytes in a message.

#include <mpi.h>

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int rank, ranks;

// fail ends the job with one sentence.
static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "mpibench: rank %d: ", rank);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

#include "memory.h"
#include "values.h"
#include "work.h"
#include "collectives.h"
#include "message.h"
#include "pairs.h"

static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void slowest_of(const double *mine, double *most, int n)
{
	MPI_Allreduce(mine, most, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static double total_of(double mine)
{
	double all;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

#include "measure.h"
#include "startup.h"

// run reads a point, OPERATION:COUNT:WAY, and measures it.
static void run(const char *text, int point, const struct task *task)
{
	char operation[32], way[32] = "";
	struct work w = {.task = task, .timed = 1, .steps = 1};
	if (sscanf(text, "%31[^:]:%zu:%31s", operation, &w.count, way) < 2)
		fail("point \"%s\": expected OPERATION:COUNT:WAY", text);
	if (rank == 0) {
		printf("start %d\n", point);
		fflush(stdout);
	}
	if (!open_collective(&w, operation, way) && !open_pair(&w, operation, way))
		fail("there is no %s %s", operation, way);
	measure(&w, point);
	w.close(&w);
}

int main(int argc, char **argv)
{
	// Whoever started this has gone: no rank is left behind.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	enum { first = 8 };
	if (argc <= first)
		fail("usage: mpibench DTYPE OP ROOT MOST MICROSECONDS VERIFY YIELD POINT...");
	note_startup(argv + first);
	struct task task = {.root = atoi(argv[3]), .most = atoi(argv[4]), .yield = atoi(argv[7])};
	find_dtype(&task, argv[1]);
	find_op(&task, argv[2]);
	budget = atof(argv[5]) * 1e3;
	verify = atoi(argv[6]);
	for (int i = first; i < argc; i++) {
		if (is_startup(argv[i]))
			tell_startup(argv[i], i - first);
		else
			run(argv[i], i - first, &task);
	}
	if (rank == 0) {
		printf("done\n");
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}
