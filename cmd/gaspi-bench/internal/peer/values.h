// What vectors hold before and after an operation: the numbers of gaspi-bench's
// values.go, small and whole, so that every result is exact.

#include <complex.h>

// A task is what all points of a run have in common.
struct task {
	const char *dtype_name;
	MPI_Datatype dtype;
	size_t size; // bytes of an element
	double (*get)(const void *vector, size_t element);
	void (*set)(void *vector, size_t element, double number);

	MPI_Op op;
	char fold; // + * < > & | ^
	int root;
	int most;  // numbers that are contributed are below it
	int yield; // ranks outnumber cores: who looks at memory lets others run
};

#define ELEMENT(name, type)                                                    \
	static double get_##name(const void *vector, size_t element)           \
	{                                                                      \
		return (double)((const type *)vector)[element];                \
	}                                                                      \
	static void set_##name(void *vector, size_t element, double number)    \
	{                                                                      \
		((type *)vector)[element] = (type)number;                      \
	}

ELEMENT(float64, double)
ELEMENT(float32, float)
ELEMENT(complex128, double complex)
ELEMENT(complex64, float complex)
ELEMENT(int64, int64_t)
ELEMENT(int32, int32_t)
ELEMENT(int16, int16_t)
ELEMENT(int8, int8_t)
ELEMENT(uint64, uint64_t)
ELEMENT(uint32, uint32_t)
ELEMENT(uint16, uint16_t)
ELEMENT(uint8, uint8_t)

static void find_dtype(struct task *t, const char *name)
{
#define TRY(go, type, mpi)                                                     \
	if (!strcmp(name, #go)) {                                              \
		t->dtype_name = #go, t->dtype = mpi, t->size = sizeof(type);   \
		t->get = get_##go, t->set = set_##go;                          \
		return;                                                        \
	}
	TRY(float64, double, MPI_DOUBLE)
	TRY(float32, float, MPI_FLOAT)
	TRY(complex128, double complex, MPI_C_DOUBLE_COMPLEX)
	TRY(complex64, float complex, MPI_C_FLOAT_COMPLEX)
	TRY(int64, int64_t, MPI_INT64_T)
	TRY(int32, int32_t, MPI_INT32_T)
	TRY(int16, int16_t, MPI_INT16_T)
	TRY(int8, int8_t, MPI_INT8_T)
	TRY(uint64, uint64_t, MPI_UINT64_T)
	TRY(uint32, uint32_t, MPI_UINT32_T)
	TRY(uint16, uint16_t, MPI_UINT16_T)
	TRY(uint8, uint8_t, MPI_UINT8_T)
#undef TRY
	fail("there is no type %s", name);
}

static void find_op(struct task *t, const char *name)
{
	const struct {
		const char *name;
		MPI_Op op;
		char fold;
	} all[] = {
		{"sum", MPI_SUM, '+'}, {"prod", MPI_PROD, '*'}, {"min", MPI_MIN, '<'}, {"max", MPI_MAX, '>'},
		{"and", MPI_BAND, '&'}, {"or", MPI_BOR, '|'}, {"xor", MPI_BXOR, '^'},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!strcmp(name, all[i].name)) {
			t->op = all[i].op, t->fold = all[i].fold;
			return;
		}
	}
	fail("there is no operation %s", name);
}

// contribution is the number that a rank contributes at an element.
static int contribution(const struct task *t, int reduces, int from, size_t element, int iteration)
{
	enum { most_factors = 6 }; // so many ranks contribute 2 to a product at most
	uint32_t h = (uint32_t)element * 2654435761u + (uint32_t)from * 40503u + (uint32_t)iteration * 2246822519u;
	h ^= h >> 15;
	if (reduces && t->fold == '*' && ranks > 1)
		return from < most_factors ? 1 + (h >> 8 & 1) : 1;
	return (h >> 8) % t->most;
}

// folded is the combination of what ranks first to last contribute at an element.
static long folded(const struct task *t, int first, int last, size_t element, int iteration)
{
	long sum = contribution(t, 1, first, element, iteration);
	for (int from = first + 1; from <= last; from++) {
		long x = contribution(t, 1, from, element, iteration);
		switch (t->fold) {
		case '+': sum += x; break;
		case '*': sum *= x; break;
		case '<': sum = x < sum ? x : sum; break;
		case '>': sum = x > sum ? x : sum; break;
		case '&': sum &= x; break;
		case '|': sum |= x; break;
		case '^': sum ^= x; break;
		}
	}
	return sum;
}
