package boot

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/pmi"
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

// fromSlurm begins the session of a task that srun has started. The tasks find
// each other through PMI-2 or, without it, at the first host of the step with
// a key that the user has given.
func fromSlurm(ctx context.Context, v *variables, tell reports) (Session, error) {
	plan := networkPlan{info: v.slurmInfo()}
	plan.serves = plan.info.Rank == 0
	plan.limits(v, tell)
	v.checkMeeting()
	if v.err != nil {
		return nil, v.err
	}
	proof, given, err := v.credentials()
	switch {
	case err != nil:
		return nil, err
	case given:
		plan.meeting.proof = proof
		return plan.fromFirstHost(ctx, v)
	case v.has(pmiFD):
		return plan.overPMI2(ctx, v)
	}
	return nil, fmt.Errorf("this is task %d of %d of a Slurm step, and %s is not set, so the tasks cannot find each other: start the program with srun --mpi=pmi2, or with gaspi-run inside the allocation, or set %s (a child of a rank is no rank)",
		plan.info.Rank, plan.info.Size, pmiFD, EnvKeyFile)
}

// fromFirstHost meets on the first host of the step, at a port that all tasks
// compute alike, or where the user says.
func (p networkPlan) fromFirstHost(ctx context.Context, v *variables) (Session, error) {
	if v.has(EnvRendezvous) {
		p.meeting.addresses = v.addresses(EnvRendezvous)
	} else {
		list, _ := v.lookup(slurmNodes)
		host, ok := hostName(firstHost(list))
		if !ok {
			v.fail(slurmNodes, list, "the hosts of the step")
		}
		p.meeting.addresses = []string{net.JoinHostPort(host, strconv.Itoa(agreedPort(p.meeting.proof.Key, p.info.Job, p.ports)))}
	}
	p.nameJob(v)
	if v.err != nil {
		return nil, v.err
	}
	p.info.settle()
	return p.join(ctx)
}

// agreedPort returns the port at which the tasks of a step meet when nothing can tell them:
// one of ports, or, where the user gives none, of those below the range from which systems
// choose. Each step has another one.
func agreedPort(key auth.Key, job string, ports address.Ports) int {
	if ports == (address.Ports{}) {
		ports = address.Ports{Low: 20000, High: 31999}
	}
	h := fnv.New32a()
	h.Write([]byte(key.JobID() + job))
	return int(ports.Low) + int(h.Sum32()%(uint32(ports.High-ports.Low)+1))
}

// overPMI2 lets the tasks find each other through PMI-2. The address that leads to where
// srun was called is most likely to be the one that other tasks see.
func (p networkPlan) overPMI2(ctx context.Context, v *variables) (Session, error) {
	conn, err := v.takePMI()
	if err != nil {
		return nil, err
	}
	job, _ := v.lookup(pmiJob)
	opening, cancel := context.WithTimeout(ctx, p.meeting.patience)
	defer cancel()
	slurm, size, err := pmi.OpenV2(opening, conn, job, int(p.info.Rank))
	if err != nil {
		return nil, err
	}
	if size != p.info.Size {
		slurm.Abandon()
		return nil, fmt.Errorf("PMI-2 says that the step has %d tasks, and %s says %d", size, slurmTasks, p.info.Size)
	}
	text, _ := v.lookup(slurmFrom)
	hint, _ := netip.ParseAddr(text)
	return p.overStore(ctx, slurm, v, false, hint)
}

// takePMI returns the inherited connection to the process manager.
func (v *variables) takePMI() (net.Conn, error) {
	fd := v.number(pmiFD, 3, manyRanks, 0)
	if v.err != nil {
		return nil, v.err
	}
	conn, err := takeDescriptor(fd)
	if err != nil {
		return nil, fmt.Errorf("%s=%d is not a connection to a process manager: %w", pmiFD, fd, err)
	}
	os.Unsetenv(pmiFD)
	return conn, nil
}

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
