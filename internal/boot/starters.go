package boot

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A starter is a program that starts processes and tells each its number by variables.
// Empty names are of variables that it does not set.
type starter struct {
	name      string   // as users call it
	rank      string   // number of the process
	size      string   // number of all; empty where it is not told
	localRank string   // number among those of this host
	localSize string   // number of those of this host
	group     string   // number of the starter's agent, of which a host may have several
	also      []string // without which it is not this starter
	same      []string // equal for all processes of one start on a host, and different for others
	way       way      // how its processes join, where begin does not say it
	master    bool     // torchrunAddress and torchrunPort say where rank 0 is
}

// Where rank 0 of a job of torchrun is. The port is taken by torchrun's own store.
const (
	torchrunAddress = "MASTER_ADDR"
	torchrunPort    = "MASTER_PORT"
)

var torchrunSame = []string{torchrunAddress, torchrunPort, "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}

// inner are the starters that are started by others, once for each host, so that their
// processes have the variables of both.
var inner = []starter{
	{
		name: "torchrun", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK", localSize: "LOCAL_WORLD_SIZE", group: "GROUP_RANK",
		also: []string{"LOCAL_RANK", "LOCAL_WORLD_SIZE", torchrunAddress, torchrunPort}, same: torchrunSame, master: true,
	},
	{
		name: "Open MPI's mpirun", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE",
		localRank: "OMPI_COMM_WORLD_LOCAL_RANK", localSize: "OMPI_COMM_WORLD_LOCAL_SIZE",
		same: []string{"PMIX_NAMESPACE", "PMIX_SERVER_URI2", "PMIX_SERVER_URI21", "PMIX_SERVER_URI41"},
	},
}

// outer are the starters that count where nothing else has started the process.
var outer = []starter{
	{
		name: "PALS", rank: "PMI_RANK", size: "PMI_SIZE", localRank: "PMI_LOCAL_RANK", localSize: "PMI_LOCAL_SIZE",
		also: []string{"PALS_APID"}, same: []string{"PALS_APID"},
	},
	{
		name: "Flux", rank: "FLUX_TASK_RANK", size: "FLUX_JOB_SIZE", also: []string{"FLUX_JOB_ID"},
	},
	{
		name: "MVAPICH's mpirun_rsh", rank: "MV2_COMM_WORLD_RANK", size: "MV2_COMM_WORLD_SIZE",
		localRank: "MV2_COMM_WORLD_LOCAL_RANK", localSize: "MV2_COMM_WORLD_LOCAL_SIZE",
	},
	{
		name: "jsrun", rank: "JSM_NAMESPACE_RANK", size: "JSM_NAMESPACE_SIZE",
		localRank: "JSM_NAMESPACE_LOCAL_RANK", localSize: "JSM_NAMESPACE_LOCAL_SIZE",
	},
	{
		name: "torch.distributed", rank: "RANK", size: "WORLD_SIZE", also: []string{torchrunAddress, torchrunPort}, same: torchrunSame, master: true,
	},
}

// announcements are variables by which a starter says that there are other processes: by
// their number, or, where counts is false, by being there.
var announcements = []struct {
	name   string
	counts bool
}{
	{pmiSize, true}, {"OMPI_COMM_WORLD_SIZE", true}, {"WORLD_SIZE", true}, {"MV2_COMM_WORLD_SIZE", true}, {"JSM_NAMESPACE_SIZE", true},
	{"FLUX_JOB_SIZE", true}, {slurmTasks, true}, {"MPI_LOCALNRANKS", true}, {"PALS_RANKID", false}, {"ALPS_APP_PE", false}, {"PMIX_RANK", false},
}

// starter returns the starter of this process, or nil. Of several it is the first of inner,
// then a manager that speaks PMI-1 or Slurm, and then the first of outer; but one that has started a single
// process hides none that has started several.
func (v *variables) starter() *starter {
	all := v.starters(inner)
	switch {
	case v.hasPMI1():
		all = append(all, &starter{name: "PMI-1", size: pmiSize, way: fromPMI1})
	case inSlurmStep(v):
		all = append(all, &starter{name: "Slurm", size: slurmTasks, way: fromSlurm})
	}
	all = append(all, v.starters(outer)...)
	for _, s := range all {
		if size, _ := v.lookup(s.size); size != "1" {
			return s
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// starters returns those of a table that have started this process.
func (v *variables) starters(table []starter) (all []*starter) {
	for _, s := range table {
		needed := append([]string{s.rank, s.size}, s.also...)
		if !slices.ContainsFunc(needed, func(name string) bool { return !v.has(name) }) {
			all = append(all, &s)
		}
	}
	return all
}

// announced returns an error if some variable says that this process is one of several,
// although it has no way to join them.
func (v *variables) announced() error {
	if err := v.unsized(); err != nil {
		return err
	}
	for _, a := range announcements {
		text, _ := v.lookup(a.name)
		if text == "" || a.counts && text == "1" || !a.counts && v.alone() {
			continue
		}
		return unjoinable(a.name, text, "nothing says how they find each other")
	}
	return nil
}

// unsized returns an error if some variable numbers this process, or counts those of its host,
// and the number of all, which its starter sets beside it, is missing.
func (v *variables) unsized() error {
	for _, s := range slices.Concat(inner, outer) {
		size, _ := v.lookup(s.size)
		if size != "" || s.rank == pmiRank && v.alone() {
			continue
		}
		for _, part := range []struct{ name, alone string }{{s.rank, ""}, {s.localSize, "1"}, {s.localRank, "0"}} {
			if text, _ := v.lookup(part.name); text != "" && text != part.alone {
				return unjoinable(part.name, text, s.size+", which says of how many, is not set")
			}
		}
	}
	return nil
}

// unjoinable says that a variable makes this process one of several that it cannot join.
func unjoinable(name, text, why string) error {
	return fmt.Errorf("%s=%.40s says that this process is one of several, and %s: start the program with gaspi-run, or set %s, %s, %s and %s, or unset %s to run it alone (a child of a rank is no rank)",
		name, text, why, EnvRank, EnvSize, EnvRendezvous, EnvKeyFile, name)
}

// alone reports whether a process manager says that this process is the only one of its job.
func (v *variables) alone() bool {
	for _, name := range []string{slurmTasks, pmiSize} {
		if text, _ := v.lookup(name); text == "1" {
			return true
		}
	}
	return false
}

// info returns who this process is, as its starter says.
func (s *starter) info(v *variables) Info {
	var i Info
	i.Size = v.number(s.size, 1, manyRanks, 1)
	i.Rank = base.Rank(v.number(s.rank, 0, i.Size, 0))
	i.LocalSize = 1
	if v.has(s.localRank) && v.has(s.localSize) {
		i.LocalSize = v.number(s.localSize, 1, i.Size+1, 1)
		i.LocalRank = v.number(s.localRank, 0, i.LocalSize, 0)
	}
	i.Host = thisHost()
	if group, ok := v.lookup(s.group); ok {
		i.Host += "-" + group
	}
	if i.LocalSize == 1 {
		i.Host = fmt.Sprintf("rank-%d", i.Rank)
	}
	return i
}

// checkPlace refuses an environment that says where rank 0 is and makes no sense, whether or
// not this job needs it.
func (s *starter) checkPlace(v *variables) {
	v.checkMeeting()
	if s.master {
		v.torchrunStore()
	}
}

// isPlaced reports whether the environment says where rank 0 is to be found.
func (s *starter) isPlaced(v *variables) bool { return s.master || v.has(EnvRendezvous) }

// rendezvous returns where rank 0 is to be found, for a starter for which isPlaced holds. One
// that names a host keeps the port for itself, so ours is the next one.
func (s *starter) rendezvous(v *variables) []string {
	if v.has(EnvRendezvous) {
		return v.addresses(EnvRendezvous)
	}
	host, port := v.torchrunStore()
	if port == maxPort {
		v.fail(torchrunPort, strconv.Itoa(port), fmt.Sprintf("a port below %d, since rank 0 listens at the next one; or set %s", maxPort, EnvRendezvous))
	}
	return []string{net.JoinHostPort(host, strconv.Itoa(port+1))}
}

// torchrunStore returns host and port of torchrun's own store, on the host of rank 0.
func (v *variables) torchrunStore() (host string, port int) {
	text, _ := v.lookup(torchrunAddress)
	host, ok := hostName(text)
	if !ok {
		v.fail(torchrunAddress, text, "the host of rank 0, by name or address, such as node1 or fd00::1")
	}
	return host, v.number(torchrunPort, 1, maxPort+1, 1)
}

// start names the start on this host that this process belongs to: equal for all of its
// processes, and different for others. It is empty where the starter does not say it.
func (s *starter) start(v *variables) string {
	var said []string
	for _, name := range s.same {
		if text, ok := v.lookup(name); ok {
			said = append(said, name+"="+text)
		}
	}
	return strings.Join(said, "\n")
}

// thisHost names this host and the view of its processes that this one has: ranks for
// which both are equal can map each other's memory.
func thisHost() string {
	kernel, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	view, viewErr := os.Readlink("/proc/self/ns/pid")
	name, nameErr := os.Hostname()
	switch {
	case errors.Join(err, viewErr) == nil:
		return strings.TrimSpace(string(kernel)) + "-" + view
	case nameErr == nil && name != "":
		return name
	}
	return localHost
}
