package starters

import "github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"

// Variables that process managers which speak PMI set for the processes that they start.
const (
	PMIFD      = "PMI_FD"    // descriptor of the connection to the manager
	PMIJob     = "PMI_JOBID" // with PMI-2
	PMIRank    = "PMI_RANK"
	PMISize    = "PMI_SIZE"
	PMIPort    = "PMI_PORT"        // host:port in place of PMIFD
	PMIID      = "PMI_ID"          // number of the process, where there is PMIPort
	hydraLocal = "MPI_LOCALRANKID" // Hydra alone sets it
)

// hasPMI1 reports whether this process has a connection to a process manager that speaks
// PMI-1, or could open one. Inside of a Slurm step it reports false, and PMI-2 is used, unless
// Hydra runs in the step.
func hasPMI1(v *variables.Reader) bool {
	if v.Has(PMIPort) && v.Has(PMIID) {
		return true
	}
	if !v.Has(PMIFD) || !v.Has(PMIRank) || !v.Has(PMISize) {
		return false
	}
	size, _ := v.Lookup(PMISize)
	tasks, _ := v.Lookup(slurmTasks)
	return !inStep(v) || v.Has(hydraLocal) || size != tasks
}
