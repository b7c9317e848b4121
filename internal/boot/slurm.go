package boot

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/pmi"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
)

// fromSlurm begins the session of a task that srun has started. The tasks find
// each other through PMI-2 or, without it, at the first host of the step with
// a key that the user has given.
func fromSlurm(ctx context.Context, v *environment, tell reports) (Session, error) {
	plan := networkPlan{info: v.slurmInfo()}
	plan.serves = plan.info.Rank == 0
	plan.limits(v, tell)
	v.checkMeeting()
	if v.Err != nil {
		return nil, v.Err
	}
	proof, given, err := v.credentials()
	switch {
	case err != nil:
		return nil, err
	case given:
		plan.meeting.proof = proof
		return plan.fromFirstHost(ctx, v)
	case v.Has(starters.PMIFD):
		return plan.overPMI2(ctx, v)
	}
	return nil, fmt.Errorf("this is task %d of %d of a Slurm step, and %s is not set, so the tasks cannot find each other: start the program with srun --mpi=pmi2, or with gaspi-run inside the allocation, or set %s (a child of a rank is no rank)",
		plan.info.Rank, plan.info.Size, starters.PMIFD, EnvKeyFile)
}

// fromFirstHost meets on the first host of the step, at a port that all tasks
// compute alike, or where the user says.
func (p networkPlan) fromFirstHost(ctx context.Context, v *environment) (Session, error) {
	if v.Has(EnvRendezvous) {
		p.meeting.addresses = v.Addresses(EnvRendezvous)
	} else {
		host := starters.FirstHost(&v.Reader)
		p.meeting.addresses = []string{net.JoinHostPort(host, strconv.Itoa(agreedPort(p.meeting.proof.Key, p.info.Job, p.ports)))}
	}
	p.nameJob(v)
	if v.Err != nil {
		return nil, v.Err
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
func (p networkPlan) overPMI2(ctx context.Context, v *environment) (Session, error) {
	conn, err := v.takePMI()
	if err != nil {
		return nil, err
	}
	job, _ := v.Lookup(starters.PMIJob)
	opening, cancel := context.WithTimeout(ctx, p.meeting.patience)
	defer cancel()
	slurm, size, err := pmi.OpenV2(opening, conn, job, int(p.info.Rank))
	if err != nil {
		return nil, err
	}
	if size != p.info.Size {
		slurm.Abandon()
		return nil, fmt.Errorf("PMI-2 says that the step has %d tasks, and SLURM_STEP_NUM_TASKS says %d", size, p.info.Size)
	}
	return p.overStore(ctx, slurm, v, false, starters.SubmitHost(&v.Reader))
}

// takePMI returns the inherited connection to the process manager.
func (v *environment) takePMI() (net.Conn, error) {
	fd := v.Number(starters.PMIFD, 3, variables.ManyRanks, 0)
	if v.Err != nil {
		return nil, v.Err
	}
	conn, err := takeDescriptor(fd)
	if err != nil {
		return nil, fmt.Errorf("%s=%d is not a connection to a process manager: %w", starters.PMIFD, fd, err)
	}
	os.Unsetenv(starters.PMIFD)
	return conn, nil
}

// slurmInfo returns who this task is.
func (v *environment) slurmInfo() Info {
	n, job := starters.Step(&v.Reader)
	i := infoFrom(n)
	i.Job = job
	if err := CheckJob(i.Job); err != nil && v.Err == nil {
		v.Err = fmt.Errorf("SLURM_JOB_ID and SLURM_STEP_ID: %w", err)
	}
	return i
}
