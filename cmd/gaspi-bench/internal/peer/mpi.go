package peer

import (
	"strconv"
	"strings"
)

// MPI reports whether the library of that name is one of MPI.
func MPI(name string) bool {
	kind, _, _ := strings.Cut(name, "=")
	return kind == openMPI().name || kind == mpich().name
}

// mpiWays are the ways in which MPI does an operation.
func mpiWays(operation string) []string {
	switch operation {
	case "allreduce", "reduce", "scan", "exscan":
		return []string{"in-place", "separate"}
	case "broadcast", "allgather", "gather", "scatter", "alltoall", "reducescatter", "barrier":
		return []string{""}
	case "latency", "delivery", "bandwidth":
		return []string{"send-recv", "put"}
	case "put":
		return []string{"put"}
	case Startup, Init, FirstBarrier, Started:
		return []string{""}
	}
	return nil
}

// DTypes are the types of elements that MPI has.
func DTypes() []string {
	return []string{
		"float64", "float32", "complex128", "complex64", "int64", "int32", "int16", "int8",
		"uint64", "uint32", "uint16", "uint8",
	}
}

// mpiArguments returns the arguments of mpibench.
func mpiArguments(j Job) []string {
	bit := map[bool]string{true: "1"}
	args := []string{
		j.DType, j.Op, strconv.Itoa(j.Root), strconv.Itoa(j.Most),
		strconv.FormatInt(j.Time.Microseconds(), 10), "0" + bit[j.Verify], "0" + bit[j.Yield],
	}
	return append(args, j.points()...)
}
