package boot

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// fromSlurm begins the session of a task that srun has started. The tasks find
// each other through PMI-2 or, without it, at the first host of the step with
// a key that the user has put into a file.
func fromSlurm(ctx context.Context, v *variables, log func(string)) (Session, error) {
	plan := networkPlan{info: v.slurmInfo(), heartbeat: v.duration(EnvHeartbeat, MinHeartbeat, DefaultHeartbeat)}
	plan.serves = plan.info.Rank == 0
	plan.meeting = v.meeting(auth.Credentials{})
	if v.err != nil {
		return nil, v.err
	}
	nameProcess()
	switch {
	case v.has(EnvKeyFile):
		return plan.fromFirstHost(ctx, v, log)
	case v.has(pmiFD):
		return plan.overPMI(ctx, v, log)
	}
	return nil, fmt.Errorf("this is task %d of %d of a Slurm step, and %s is not set, so the tasks cannot find each other: start the program with srun --mpi=pmi2, or with gaspi-run inside the allocation, or set %s (a child of a rank is no rank)",
		plan.info.Rank, plan.info.Size, pmiFD, EnvKeyFile)
}

// fromFirstHost meets on the first host of the step, at a port that all tasks
// compute alike, or where the user says.
func (p networkPlan) fromFirstHost(ctx context.Context, v *variables, log func(string)) (Session, error) {
	file, _ := v.lookup(EnvKeyFile)
	proof, err := takeCredentials(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvKeyFile, err)
	}
	p.meeting.proof = proof
	if v.has(EnvRendezvous) {
		p.meeting.addresses = v.addresses(EnvRendezvous)
	} else {
		list, _ := v.lookup(slurmNodes)
		host := firstHost(list)
		if host == "" {
			v.fail(slurmNodes, list, "the hosts of the step")
		}
		p.meeting.addresses = []string{net.JoinHostPort(host, strconv.Itoa(agreedPort(proof.Key, p.info.Job)))}
	}
	if v.err != nil {
		return nil, v.err
	}
	os.Unsetenv(EnvKeyFile)
	os.Unsetenv(EnvRendezvous)
	return p.join(ctx, log)
}

// agreedPort is where the tasks of a step meet when nothing can tell them: below
// the ports that systems give out, and another one for each step.
func agreedPort(key auth.Key, job string) int {
	h := fnv.New32a()
	h.Write([]byte(key.JobID() + job))
	return 20000 + int(h.Sum32()%12000)
}

// The names of what rank 0 tells the others through PMI-2.
const (
	pmiRendezvous = "gaspi-rendezvous"
	pmiKey        = "gaspi-key"
)

// overPMI lets rank 0 open the rendezvous at any free port, and tell the others
// where it is and the key, which nobody else can ask Slurm for.
func (p networkPlan) overPMI(ctx context.Context, v *variables, log func(string)) (Session, error) {
	fd := v.number(pmiFD, 3, manyRanks, 0)
	job, _ := v.lookup(pmiJob)
	if v.err != nil {
		return nil, v.err
	}
	conn, err := takeDescriptor(fd)
	if err != nil {
		return nil, fmt.Errorf("%s=%d is not a connection to Slurm: %w", pmiFD, fd, err)
	}
	os.Unsetenv(pmiFD)
	slurm, size, err := openPMI(ctx, conn, job, int(p.info.Rank))
	if err != nil {
		return nil, err
	}
	if size != p.info.Size {
		slurm.conn.Close()
		return nil, fmt.Errorf("PMI-2 says that the step has %d tasks, and %s says %d", size, slurmTasks, p.info.Size)
	}
	if p.serves {
		return p.tellPMI(ctx, slurm, v, log)
	}
	if err := p.hearPMI(ctx, slurm); err != nil {
		return nil, err
	}
	c, err := p.meeting.join(ctx, p.info)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// tellPMI is overPMI at rank 0.
func (p networkPlan) tellPMI(ctx context.Context, slurm *pmi, v *variables, log func(string)) (Session, error) {
	listeners, err := p.listenAnywhere(v)
	if err != nil {
		slurm.conn.Close()
		return nil, err
	}
	var where []string
	for _, l := range listeners {
		where = append(where, l.Addr().String())
	}
	p.meeting.proof.Key = auth.NewKey()
	h, err := newHost(listeners, p.info, p.meeting, p.heartbeat, log)
	if err != nil {
		slurm.conn.Close()
		return nil, err
	}
	if err := errors.Join(
		slurm.put(ctx, pmiRendezvous, strings.Join(where, ",")),
		slurm.put(ctx, pmiKey, p.meeting.proof.Key.Text()),
		slurm.fence(ctx),
		slurm.close(ctx),
	); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// hearPMI is overPMI at the others, up to where they know where to go.
func (p *networkPlan) hearPMI(ctx context.Context, slurm *pmi) error {
	err := slurm.fence(ctx)
	var where, key string
	if err == nil {
		where, err = slurm.get(ctx, pmiRendezvous)
	}
	if err == nil {
		key, err = slurm.get(ctx, pmiKey)
	}
	if err != nil {
		slurm.conn.Close()
		return err
	}
	if p.meeting.proof.Key, err = auth.ParseKey(key); err != nil {
		slurm.conn.Close()
		return fmt.Errorf("what rank 0 told through PMI-2: %w", err)
	}
	p.meeting.addresses = strings.Split(where, ",")
	return slurm.close(ctx)
}

// listenAnywhere opens a free port on the addresses by which other hosts can
// reach this one, or on loopback if there are none.
func (p networkPlan) listenAnywhere(v *variables) ([]net.Listener, error) {
	addresses, err := p.reachable(v)
	if err != nil {
		return nil, err
	}
	const few = 8 // more take too long to try, and do not fit into a value
	var out []net.Listener
	var errs []error
	for _, a := range addresses[:min(len(addresses), few)] {
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("opening the rendezvous of the job: %w", errors.Join(errs...))
	}
	return out, nil
}

// reachable returns the addresses of this host, best first: the one that leads
// to where srun was called is most likely to be the one that others see.
func (p networkPlan) reachable(v *variables) ([]netip.Addr, error) {
	spec, _ := v.lookup(EnvInterface)
	if p.info.LocalSize == p.info.Size {
		return address.Choose(spec, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	all, err := address.Choose(spec, netip.Addr{})
	text, _ := v.lookup(slurmFrom)
	from, parseErr := netip.ParseAddr(text)
	if err != nil || spec != "" || parseErr != nil || from.IsLoopback() {
		return all, err
	}
	best, err := address.Choose("", from)
	if err != nil {
		return all, nil // srun may have been called where only Slurm can reach
	}
	return append(best, slices.DeleteFunc(all, func(a netip.Addr) bool { return a == best[0] })...), nil
}
