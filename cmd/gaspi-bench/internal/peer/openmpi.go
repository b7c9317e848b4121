package peer

import (
	"context"
	"regexp"
	"strconv"
	"strings"
)

// openMPI is Open MPI, by its own engine (pml ob1): what else a build may bring
// along, such as UCX, would choose transports by itself.
func openMPI() library {
	return library{
		name: "openmpi", title: "Open MPI", compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", says: "Open MPI",
		packages: "openmpi-bin libopenmpi-dev gcc",
		source:   "mpibench.c", ways: mpiWays, arguments: mpiArguments,
		command:    openMPICommand,
		algorithms: openMPIAlgorithms,
	}
}

func openMPICommand(j Job) launch {
	l := launch{
		args: []string{"-np", strconv.Itoa(j.Ranks)},
		// It refuses to run as root unless it is told twice.
		env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
	}
	l.args = append(l.args, openMPIPlaces(j)...)
	l.args = append(l.args, "--mca", "pml", "ob1")
	if !j.TCP {
		return l.and(launch{args: []string{"--mca", "btl", "vader,self"}})
	}
	// One-sided calls have transports of their own, one of which is memory.
	return l.and(launch{args: []string{"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "osc", "^sm,ucx"}})
}

// openMPIPlaces says where ranks run. Those that are told that they outnumber cores
// yield while they wait.
func openMPIPlaces(j Job) []string {
	switch {
	case !j.Bound:
		return []string{"--oversubscribe", "--bind-to", "none"}
	case j.Yield:
		return []string{"--oversubscribe", "--map-by", "core", "--bind-to", "core:overload-allowed"}
	default:
		return []string{"--bind-to", "core"}
	}
}

// openMPIAlgorithms asks the library: it has more from version to version.
func openMPIAlgorithms(ctx context.Context, l library, operation string) (map[string]launch, error) {
	call, ok := map[string]string{
		"allreduce": "allreduce", "reduce": "reduce", "broadcast": "bcast", "allgather": "allgather", "alltoall": "alltoall",
		"gather": "gather", "scatter": "scatter", "reducescatter": "reduce_scatter_block", "barrier": "barrier",
		"scan": "scan", "exscan": "exscan",
	}[operation]
	if !ok {
		return nil, nil
	}
	info, err := l.find("ompi_info")
	if err != nil {
		return nil, err
	}
	out, err := ask(ctx, info, "--param", "coll", "tuned", "--level", "9", "--parsable")
	if err != nil {
		return nil, err
	}
	return openMPIChoices(out, call), nil
}

// openMPIChoices reads what ompi_info says about a call.
func openMPIChoices(text, call string) map[string]launch {
	parameter := "coll_tuned_" + call + "_algorithm"
	all := map[string]launch{}
	for line := range strings.Lines(text) {
		m := openMPIChoice.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || m[1] != parameter || m[2] == "0" { // 0 is what it does by itself
			continue
		}
		all[m[3]] = launch{args: []string{"--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", parameter, m[2]}}
	}
	return all
}

var openMPIChoice = regexp.MustCompile(`:param:(\w+):enumerator:value:(\d+):(.+)$`)
