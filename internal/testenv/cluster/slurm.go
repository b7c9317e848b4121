package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"
)

// slurmConfig makes nodes of all hosts but the head, which runs the controller.
// More processors are claimed than there are, so that tests can place ranks
// unevenly; nothing is bound to any.
const slurmConfig = `
ClusterName=test
SlurmctldHost=head(%[2]s)
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=%[1]s/munge.socket
StateSaveLocation=%[1]s/slurm-state
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldPort=6817
SlurmdPort=6818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmi2
ReturnToService=2
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
SlurmdTimeout=30
KillWait=2
UnkillableStepTimeout=10
MessageTimeout=30
`

// slurmCPUs is how many processors each node claims to have.
const slurmCPUs = 4

// StartSlurm starts Slurm on all hosts: commands on the head (and in jobs) then
// find it. Nodes are called like the hosts. It takes some seconds.
func (c *Cluster) StartSlurm() {
	c.t.Helper()
	if c.slurm {
		return
	}
	need(c.t, "munged", "slurmctld", "slurmd", "srun", "sinfo")
	if err := c.startSlurm(); err != nil {
		c.t.Fatalf("slurm: %v\nslurmctld: %s\nslurmd of h1: %s\nmunged: %s", err,
			c.logOf("slurmctld.log"), c.logOf("slurmd-h1.log"), c.logOf("munged.log"))
	}
}

func (c *Cluster) startSlurm() error {
	if err := c.configureSlurm(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	// A socket in a shared folder is reached from all hosts, so one munged serves all.
	err := c.head.serve("munged.log", "munged", "--foreground", "--force",
		"--key-file="+c.file("munge.key"), "--socket="+c.file("munge.socket"),
		"--pid-file=/run/munged.pid", "--seed-file=/run/munged.seed", "--log-file=/run/munged.log")
	if err != nil {
		return err
	}
	if err := await(ctx, func() error { _, err := os.Stat(c.file("munge.socket")); return err }); err != nil {
		return err
	}
	c.slurm = true // from here on commands get SLURM_CONF
	if err := c.head.serve("slurmctld.log", "slurmctld", "-D"); err != nil {
		return err
	}
	for _, h := range c.hosts {
		if err := h.serve("slurmd-"+h.Name+".log", "slurmd", "-D", "-N", h.Name); err != nil {
			return err
		}
	}
	if err := await(ctx, func() error { return c.awaitNodes(ctx) }); err != nil {
		return err
	}
	return c.settle()
}

// awaitNodes asks whether all nodes have reported and are free.
func (c *Cluster) awaitNodes(ctx context.Context) error {
	out, err := c.head.Exec(ctx, "sinfo", "--noheader", "--states=idle", "--format=%D")
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if free := strings.TrimSpace(out); free != fmt.Sprint(len(c.hosts)) {
		return fmt.Errorf("%q of %d nodes are free", free, len(c.hosts))
	}
	return nil
}

func (c *Cluster) configureSlurm() error {
	text := fmt.Sprintf(slurmConfig, c.dir, c.head.IPv4)
	for _, h := range c.hosts {
		text += fmt.Sprintf("NodeName=%s NodeAddr=%s CPUs=%d\n", h.Name, h.IPv4, slurmCPUs)
	}
	text += fmt.Sprintf("PartitionName=all Nodes=h[1-%d] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES\n", len(c.hosts))
	if err := os.WriteFile(c.file("slurm.conf"), []byte(text), 0o644); err != nil {
		return err
	}
	if err := os.Mkdir(c.file("slurm-state"), 0o700); err != nil {
		return err
	}
	key := make([]byte, 128)
	rand.Read(key)
	return os.WriteFile(c.file("munge.key"), key, 0o600)
}

// await tries until it works, or ctx ends, and then says why it did not.
func await(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond): // daemons do not tell when they are ready
		}
	}
}
