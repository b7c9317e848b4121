package testenv

import (
	"os"
	"slices"
	"strings"
)

// Variables by which the starter of a job tells a process its rank, or by which a user sets
// defaults of jobs, are removed from the environment of tests; those that tests themselves
// are set by are kept.
var (
	removedPrefixes = []string{
		"GASPI_", "PMI_", "PMIX_", "MPI_LOCAL", "OMPI_", "MV2_", "SLURM_", "FLUX_", "PALS_", "ALPS_", "JSM_", "TORCHELASTIC_",
	}
	removedNames = []string{
		"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT", "JOB_COMPLETION_INDEX",
	}
	keptPrefixes = []string{"GASPI_TEST_", "GASPI_CI", "GASPI_RDMA_PROVIDER"}
)

// Removes reports whether Main removes the variable of a name from the environment of tests.
func Removes(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.Contains(removedNames, name) ||
		slices.ContainsFunc(removedPrefixes, begins) && !slices.ContainsFunc(keptPrefixes, begins)
}

// removeStarter removes all such variables: tests run alike below a starter of jobs, in a
// shell of its allocation, and elsewhere.
func removeStarter() error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !Removes(name) {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}
