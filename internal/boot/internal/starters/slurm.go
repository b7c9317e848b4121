package starters

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
	"github.com/gaspi-go/gaspi-go/internal/slurm"
)

// Variables that Slurm sets for the tasks of a step.
const (
	slurmProc    = "SLURM_PROCID"
	slurmTasks   = "SLURM_STEP_NUM_TASKS"
	slurmPerNode = "SLURM_STEP_TASKS_PER_NODE"
	slurmNode    = "SLURM_NODEID"
	slurmLocal   = "SLURM_LOCALID"
	slurmNodes   = "SLURM_STEP_NODELIST"
	slurmJob     = "SLURM_JOB_ID"
	slurmStep    = "SLURM_STEP_ID"
	slurmFrom    = "SLURM_LAUNCH_NODE_IPADDR"
)

// inStep reports whether this process is one of several tasks of a step. A
// single task, such as an interactive shell, is a job of one rank.
func inStep(v *variables.Reader) bool {
	text, ok := v.Lookup(slurmTasks)
	return ok && text != "1" && v.Has(slurmProc)
}

// Step returns who this task of a Slurm step is, and a name of the step.
func Step(v *variables.Reader) (i Numbers, name string) {
	i.Size = v.Number(slurmTasks, 1, variables.ManyRanks, 1)
	i.Rank = base.Rank(v.Number(slurmProc, 0, i.Size, 0))
	node := v.Number(slurmNode, 0, variables.ManyRanks, 0)
	i.Host = strconv.Itoa(node)
	text, _ := v.Lookup(slurmPerNode)
	per, err := slurm.Counts(text, variables.ManyRanks)
	if err != nil || node >= len(per) {
		v.Fail(slurmPerNode, text, fmt.Sprintf("how many tasks each node has, such as 4,2,1(x2), with one for node %d", node))
		return i, ""
	}
	i.LocalSize = per[node]
	i.LocalRank = v.Number(slurmLocal, 0, i.LocalSize, 0)
	job, _ := v.Lookup(slurmJob)
	step, _ := v.Lookup(slurmStep)
	return i, "slurm-" + job + "-" + step
}

// FirstHost returns the first host of the step of this task.
func FirstHost(v *variables.Reader) string {
	list, _ := v.Lookup(slurmNodes)
	host, ok := "", false
	if names, err := slurm.Nodes(list); err == nil {
		host, ok = variables.HostName(names[0])
	}
	if !ok {
		v.Fail(slurmNodes, list, "the hosts of the step")
	}
	return host
}

// SubmitHost returns the address of the host where srun was called, which is not valid if Slurm does not say it.
func SubmitHost(v *variables.Reader) netip.Addr {
	text, _ := v.Lookup(slurmFrom)
	at, _ := netip.ParseAddr(text)
	return at
}
