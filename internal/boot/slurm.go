package boot

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/base"
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
	pmiFD        = "PMI_FD"
	pmiJob       = "PMI_JOBID"
)

// inSlurmStep reports whether this process is one of several tasks of a step. A
// single task, such as an interactive shell, is a job of one rank.
func inSlurmStep(v *variables) bool {
	text, ok := v.lookup(slurmTasks)
	return ok && text != "1" && v.has(slurmProc)
}

// slurmInfo returns who this task is.
func (v *variables) slurmInfo() Info {
	var i Info
	i.Size = v.number(slurmTasks, 1, manyRanks, 1)
	i.Rank = base.Rank(v.number(slurmProc, 0, i.Size, 0))
	node := v.number(slurmNode, 0, manyRanks, 0)
	i.Host = strconv.Itoa(node)
	text, _ := v.lookup(slurmPerNode)
	per, err := tasksPerNode(text)
	if err != nil || node >= len(per) {
		v.fail(slurmPerNode, text, fmt.Sprintf("how many tasks each node has, such as 4,2,1(x2), with one for node %d", node))
		return i
	}
	i.LocalSize = per[node]
	i.LocalRank = v.number(slurmLocal, 0, i.LocalSize, 0)
	job, _ := v.lookup(slurmJob)
	step, _ := v.lookup(slurmStep)
	i.Job = "slurm-" + job + "-" + step
	if err := checkJob(i.Job); err != nil && v.err == nil {
		v.err = fmt.Errorf("%s and %s: %w", slurmJob, slurmStep, err)
	}
	return i
}

// tasksPerNode reads Slurm's "4,2,1(x2)", which is 4, 2, 1, 1.
func tasksPerNode(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		count, times := part, "1"
		if before, after, ok := strings.Cut(part, "(x"); ok {
			count, times = before, strings.TrimSuffix(after, ")")
		}
		n, err := strconv.Atoi(count)
		m, err2 := strconv.Atoi(times)
		if err := errors.Join(err, err2); err != nil || n < 1 || m < 1 || len(out)+m > manyRanks {
			return nil, fmt.Errorf("%.40q is no number of tasks", part)
		}
		for range m {
			out = append(out, n)
		}
	}
	return out, nil
}

// firstHost returns the first name of Slurm's "gpu[007-012,20],login1", which is
// gpu007.
func firstHost(list string) string {
	var name strings.Builder
	inside, skip := false, false
	for _, c := range list {
		switch {
		case c == '[':
			inside, skip = true, false
		case c == ']':
			inside, skip = false, false
		case inside && (c == '-' || c == ','):
			skip = true
		case !inside && c == ',':
			return name.String()
		case !skip:
			name.WriteRune(c)
		}
	}
	return name.String()
}
