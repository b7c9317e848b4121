package peer

import (
	"context"
	"strconv"
	"strings"
)

// mpich is MPICH as Debian builds it, with UCX.
func mpich() library {
	return library{
		name: "mpich", title: "MPICH", compiler: "mpicc.mpich", launcher: "mpiexec.mpich", says: "HYDRA",
		packages: "mpich libmpich-dev gcc",
		source:   "mpibench.c", ways: mpiWays, arguments: mpiArguments,
		command:    mpichCommand,
		algorithms: mpichAlgorithms,
	}
}

func mpichCommand(j Job) launch {
	l := launch{args: []string{"-np", strconv.Itoa(j.Ranks)}}
	if j.Bound {
		l.args = append(l.args, "-bind-to", "core")
	}
	if j.TCP {
		l.env = []string{"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}
	}
	return l
}

// mpichAlgorithms returns the algorithms of MPICH 4.0, which has no list that a program could
// read. It leaves out auto and the algorithms that only make sense across hosts.
func mpichAlgorithms(_ context.Context, _ library, operation string) (map[string]launch, error) {
	call, ok := map[string]struct{ name, algorithms string }{
		"allreduce":     {"ALLREDUCE", "nb recursive_doubling reduce_scatter_allgather release_gather"},
		"reduce":        {"REDUCE", "nb binomial reduce_scatter_gather release_gather"},
		"broadcast":     {"BCAST", "nb binomial scatter_recursive_doubling_allgather scatter_ring_allgather release_gather"},
		"barrier":       {"BARRIER", "nb dissemination release_gather"},
		"allgather":     {"ALLGATHER", "nb brucks recursive_doubling ring"},
		"alltoall":      {"ALLTOALL", "nb brucks pairwise scattered"},
		"gather":        {"GATHER", "nb binomial"},
		"scatter":       {"SCATTER", "nb binomial"},
		"reducescatter": {"REDUCE_SCATTER_BLOCK", "nb recursive_doubling pairwise recursive_halving"},
		"scan":          {"SCAN", "nb recursive_doubling"},
		"exscan":        {"EXSCAN", "nb recursive_doubling"},
	}[operation]
	if !ok {
		return nil, nil
	}
	all := map[string]launch{}
	for _, name := range strings.Fields(call.algorithms) {
		// Its shared memory has one of its own; else memory must not interfere.
		env := []string{"MPIR_CVAR_" + call.name + "_INTRA_ALGORITHM=" + name, "MPIR_CVAR_DEVICE_COLLECTIVES=none"}
		if name == "release_gather" {
			env = []string{"MPIR_CVAR_" + call.name + "_POSIX_INTRA_ALGORITHM=" + name}
		}
		all[name] = launch{env: env}
	}
	return all, nil
}
