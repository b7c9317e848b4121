package hosts

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/slurm"
)

// The variables of a Slurm allocation that are read here.
const (
	slurmJob   = "SLURM_JOB_ID"
	slurmNodes = "SLURM_JOB_NODELIST"
	slurmTasks = "SLURM_TASKS_PER_NODE"
	slurmCPUs  = "SLURM_JOB_CPUS_PER_NODE"
)

// Slurm returns the nodes of the allocation that the environment describes, or
// nothing where there is none. The slots of a node are the tasks that were asked
// for there, or else its processors in this allocation.
func Slurm(lookup func(string) (string, bool)) ([]Entry, error) {
	list, ok := lookup(slurmNodes)
	if _, job := lookup(slurmJob); !job || !ok {
		return nil, nil
	}
	names, err := slurm.Nodes(list)
	if err != nil {
		return nil, fmt.Errorf("%s=%q: %w", slurmNodes, list, err)
	}
	slots, err := slurmSlots(lookup, len(names))
	if err != nil {
		return nil, err
	}
	var all gathered
	for i, name := range names {
		if err := all.add(name, slots[i]); err != nil {
			return nil, fmt.Errorf("%s=%q: %w", slurmNodes, list, err)
		}
	}
	return all.hosts, nil
}

// slurmSlots returns the slots of each of n nodes.
func slurmSlots(lookup func(string) (string, bool), n int) ([]int, error) {
	for _, variable := range []string{slurmTasks, slurmCPUs} {
		text, ok := lookup(variable)
		if !ok {
			continue
		}
		counts, err := slurm.Counts(text, n)
		if err == nil && len(counts) < n {
			err = fmt.Errorf("counts for %d of the %d nodes of the allocation", len(counts), n)
		}
		if err != nil {
			return nil, fmt.Errorf("%s=%q: %w", variable, text, err)
		}
		return counts, nil
	}
	return nil, fmt.Errorf("neither %s nor %s is set in this Slurm allocation, so it is not known how many ranks fit on a node: use --hosts", slurmTasks, slurmCPUs)
}
