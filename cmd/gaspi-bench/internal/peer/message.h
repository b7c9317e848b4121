// Messages between two ranks, with the numbers of gaspi-bench's stamp.go in them. Whoever
// includes this has rank, fail, a struct work, and the two functions below.

// Windows as in gaspi-bench's bandwidth.go.
enum { window_bytes = 4 << 20, min_window = 4, max_window = 64 };

// window_of is how many messages of a size go in a row.
static int window_of(size_t size)
{
	size_t fit = window_bytes / size;
	return fit < min_window ? min_window : fit > max_window ? max_window : (int)fit;
}

static char short_byte(uint32_t v, size_t i) { return (char)(v >> 8 * (i % 4)); }

// stamp writes v at both ends of a message.
static void stamp(char *message, size_t size, uint32_t v)
{
	if (size < 8) {
		for (size_t i = 0; i < size; i++)
			message[i] = short_byte(v, i);
		return;
	}
	memcpy(message, &v, 4);
	memcpy(message + size - 4, &v, 4);
}

// look checks what stamp wrote. Memory that others put into is not cached.
static void look(const char *message, size_t size, uint32_t v)
{
	uint32_t head, tail;
	if (size < 8) {
		for (size_t i = 0; i < size; i++)
			if (message[i] != short_byte(v, i))
				fail("message %u arrived with byte %zu wrong", v, i);
		return;
	}
	memcpy(&head, message, 4);
	memcpy(&tail, message + size - 4, 4);
	if (head != v || tail != v)
		fail("message %u arrived with number %u at its start and %u at its end", v, head, tail);
}

static void send_message(struct work *w, uint32_t v);
static void receive_message(struct work *w, uint32_t v);

// round_trips are n of them, begun by rank 0.
static void round_trips(struct work *w, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t v = ++w->sequence;
		if (rank == 0)
			send_message(w, v);
		receive_message(w, v);
		if (rank == 1)
			send_message(w, v);
	}
	look(w->inbox, w->count, w->sequence);
}
