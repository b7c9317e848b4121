// A piece of work that can be timed. open_collective and open_pair make one.

#define MAX_SEGMENTS 64

struct work {
	const struct task *task;
	size_t count; // elements of a vector, or of a block; bytes of a message
	int timed;    // this rank's clock counts; where several do, the slowest
	int steps;    // operations in a round

	// batch does n rounds.
	void (*batch)(struct work *, int n);
	// fill and check are before and after an operation that is checked; null if
	// batches see to that.
	void (*fill)(struct work *);
	void (*check)(struct work *);
	void (*close)(struct work *);

	// Collectives.
	const struct collective *collective;
	int in_place;
	int segments; // of an allreduce, each a call of its own; at most MAX_SEGMENTS
	int tries; // operations that were checked, which number them
	void *in, *out;
	size_t in_count, out_count; // elements

	// Pairs of ranks that write to each other.
	int part, other; // this rank has a part, and the rank with the other one
	int window;      // messages in a row
	int looking;     // every message is looked at, not only the last of a batch
	uint32_t sequence;
	MPI_Win win;
	char *inbox, *outbox;
	uint32_t *flag; // in the window, behind the inbox
};
