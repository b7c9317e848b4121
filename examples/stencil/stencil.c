/* Heat spreads over a plate, by GASPI: make -C examples/stencil run N=4 ARGS="600 500"
 *
 * Arguments are the side of the plate in points and the number of steps. Each rank has a block of rows and, above
 * and below it, a row of each neighbour, which the neighbour writes with a notification. A step reads one copy of the
 * plate and writes the other, so that a neighbour that is one step ahead overwrites nothing that is still read. */
#define _POSIX_C_SOURCE 200809L
#include <GASPI.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check((call), #call)

enum { SEGMENT = 0, QUEUE = 0 };
enum { FROM_ABOVE = 0, FROM_BELOW = 1, KINDS = 2 }; /* notifications, for each copy of the plate */

static gaspi_rank_t rank, size;

static void check(gaspi_return_t code, const char *call) {
  if (code == GASPI_SUCCESS) return;
  gaspi_string_t text = NULL;
  gaspi_print_error(code, &text);
  fprintf(stderr, "stencil: rank %u: %s: %s\n", rank, call, text ? text : "?");
  exit(1);
}

/* The rows of this rank: two copies of them, each with a row of the neighbour above and one of that below. */
typedef struct {
  size_t side, first, rows;
  double *copy[2];
} plate;

/* Where a row of a copy lies in the segment of a rank with some rows, in bytes. Row 0 is the neighbour's. */
static gaspi_offset_t offset(const plate *p, size_t rows, int copy, size_t row) {
  return ((size_t)copy * (rows + 2) + row) * p->side * sizeof(double);
}

static size_t first_of(const plate *p, size_t r) { return p->side * r / size; }

static size_t rows_of(const plate *p, size_t r) { return first_of(p, r + 1) - first_of(p, r); }

static plate make_plate(size_t side) {
  plate p = { .side = side };
  p.first = first_of(&p, rank);
  p.rows = rows_of(&p, rank);
  gaspi_size_t bytes = 2 * (p.rows + 2) * side * sizeof(double);
  CHECK(gaspi_segment_create(SEGMENT, bytes, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  gaspi_pointer_t where;
  CHECK(gaspi_segment_ptr(SEGMENT, &where));
  p.copy[0] = where;
  p.copy[1] = p.copy[0] + (p.rows + 2) * side;
  for (int copy = 0; copy < 2; copy++)
    if (rank == 0)
      for (size_t x = 0; x < side; x++) p.copy[copy][side + x] = 100; /* the upper edge is hot and stays so */
  return p;
}

/* Gives the outer rows of a copy to the neighbours. */
static void give(const plate *p, int copy) {
  size_t bytes = p->side * sizeof(double);
  if (rank > 0)
    CHECK(gaspi_write_notify(SEGMENT, offset(p, p->rows, copy, 1), rank - 1, SEGMENT,
                             offset(p, rows_of(p, rank - 1), copy, rows_of(p, rank - 1) + 1), bytes,
                             KINDS * copy + FROM_BELOW, 1, QUEUE, GASPI_BLOCK));
  if (rank + 1 < size)
    CHECK(gaspi_write_notify(SEGMENT, offset(p, p->rows, copy, p->rows), rank + 1, SEGMENT, offset(p, rows_of(p, rank + 1), copy, 0),
                             bytes, KINDS * copy + FROM_ABOVE, 1, QUEUE, GASPI_BLOCK));
}

static void await(gaspi_notification_id_t id) {
  gaspi_notification_id_t got;
  gaspi_notification_t value;
  CHECK(gaspi_notify_waitsome(SEGMENT, id, 1, &got, GASPI_BLOCK));
  CHECK(gaspi_notify_reset(SEGMENT, got, &value));
}

/* Waits for the rows of the neighbours, and until the own ones have been read. */
static void take(int copy) {
  if (rank > 0) await(KINDS * copy + FROM_ABOVE);
  if (rank + 1 < size) await(KINDS * copy + FROM_BELOW);
  CHECK(gaspi_wait(QUEUE, GASPI_BLOCK));
}

/* Makes one step from a copy to the other. Returns the largest change of a point. The edges of the plate stay. */
static double step(const plate *p, int copy) {
  const double *from = p->copy[copy];
  double *to = p->copy[1 - copy], most = 0;
  for (size_t row = 1; row <= p->rows; row++) {
    size_t y = p->first + row - 1;
    if (y == 0 || y == p->side - 1) continue;
    for (size_t x = 1; x + 1 < p->side; x++) {
      size_t at = row * p->side + x;
      to[at] = 0.25 * (from[at - p->side] + from[at + p->side] + from[at - 1] + from[at + 1]);
      most = fmax(most, fabs(to[at] - from[at]));
    }
  }
  return most;
}

/* A sum over the bits of all points with their places, which says whether two plates are equal. */
static unsigned long fingerprint(const plate *p, int copy) {
  unsigned long mine = 0, all;
  for (size_t i = 0; i < p->rows * p->side; i++) {
    uint64_t bits;
    memcpy(&bits, &p->copy[copy][p->side + i], sizeof bits);
    mine += bits * (2 * (p->first * p->side + i) + 1);
  }
  CHECK(gaspi_allreduce(&mine, &all, 1, GASPI_OP_SUM, GASPI_TYPE_ULONG, GASPI_GROUP_ALL, GASPI_BLOCK));
  return all;
}

static size_t number(const char *text, const char *what, size_t least) {
  char *end;
  unsigned long v = strtoul(text, &end, 10);
  if (*end || *text == '-' || v < least || v > 100000) {
    fprintf(stderr, "stencil: %s is \"%s\"; want a number from %zu to 100000\n", what, text, least);
    exit(2);
  }
  return v;
}

int main(int argc, char **argv) {
  size_t side = argc > 1 ? number(argv[1], "the side", 3) : 400, steps = argc > 2 ? number(argv[2], "the number of steps", 1) : 200;
  CHECK(gaspi_proc_init(GASPI_BLOCK));
  CHECK(gaspi_proc_rank(&rank));
  CHECK(gaspi_proc_num(&size));
  if (side < size) {
    fprintf(stderr, "stencil: %zu rows for %u ranks; want at least one for each\n", side, size);
    exit(2);
  }
  plate p = make_plate(side);
  int copy = 0;
  double change = 0, most;
  give(&p, copy);
  for (size_t i = 0; i < steps; i++) {
    take(copy);
    change = step(&p, copy);
    copy = 1 - copy;
    give(&p, copy);
  }
  take(copy);
  CHECK(gaspi_allreduce(&change, &most, 1, GASPI_OP_MAX, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK));
  unsigned long print = fingerprint(&p, copy);
  if (rank == 0) printf("%zu x %zu points, %zu steps: the last changed a point by %.6f at most; fingerprint %016lx\n", side, side, steps, most, print);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  return 0;
}
