// Memory of a rank. Whoever includes this has fail.

// allocate returns memory of its own pages, none of them shared or missing.
static void *allocate(size_t bytes)
{
	enum { page = 4096 };
	size_t whole = (bytes + page) / page * page;
	void *memory = aligned_alloc(page, whole);
	if (!memory)
		fail("no memory for %zu bytes", bytes);
	memset(memory, 0, whole);
	return memory;
}
