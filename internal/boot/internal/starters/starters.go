// Package starters reads from the environment which program has started this process, of those
// that tell each process its number by variables: torchrun, Open MPI, Slurm, process managers
// that speak PMI-1 and others. It opens no connection and knows no variable of GASPI.
package starters

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
)

// A Starter is a program that starts processes and tells each its number by variables.
// Empty names are of variables that it does not set.
type Starter struct {
	Name    string  // as users call it
	Manager Manager // to be asked for what variables do not say

	rank      string   // number of the process
	size      string   // number of all; empty where it is not told
	localRank string   // number among those of this host
	localSize string   // number of those of this host
	group     string   // number of the starter's agent, of which a host may have several
	also      []string // without which it is not this starter
	same      []string // equal for all processes of one start on a host, and different for others
	master    bool     // torchrunAddress and TorchrunPort say where rank 0 is
}

// Where rank 0 of a job of torchrun is. The port is taken by torchrun's own store.
const (
	torchrunAddress = "MASTER_ADDR"
	TorchrunPort    = "MASTER_PORT"
)

var torchrunSame = []string{torchrunAddress, TorchrunPort, "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}

// inner are the starters that are started by others, once for each host, so that their
// processes have the variables of both.
var inner = []Starter{
	{
		Name: "torchrun", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK", localSize: "LOCAL_WORLD_SIZE", group: "GROUP_RANK",
		also: []string{"LOCAL_RANK", "LOCAL_WORLD_SIZE", torchrunAddress, TorchrunPort}, same: torchrunSame, master: true,
	},
	{
		Name: "Open MPI's mpirun", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE",
		localRank: "OMPI_COMM_WORLD_LOCAL_RANK", localSize: "OMPI_COMM_WORLD_LOCAL_SIZE",
		same: []string{"PMIX_NAMESPACE", "PMIX_SERVER_URI2", "PMIX_SERVER_URI21", "PMIX_SERVER_URI41"},
	},
}

// outer are the starters that count where nothing else has started the process.
var outer = []Starter{
	{
		Name: "PALS", rank: "PMI_RANK", size: "PMI_SIZE", localRank: "PMI_LOCAL_RANK", localSize: "PMI_LOCAL_SIZE",
		also: []string{"PALS_APID"}, same: []string{"PALS_APID"},
	},
	{
		Name: "Flux", rank: "FLUX_TASK_RANK", size: "FLUX_JOB_SIZE", also: []string{"FLUX_JOB_ID"},
	},
	{
		Name: "MVAPICH's mpirun_rsh", rank: "MV2_COMM_WORLD_RANK", size: "MV2_COMM_WORLD_SIZE",
		localRank: "MV2_COMM_WORLD_LOCAL_RANK", localSize: "MV2_COMM_WORLD_LOCAL_SIZE",
	},
	{
		Name: "jsrun", rank: "JSM_NAMESPACE_RANK", size: "JSM_NAMESPACE_SIZE",
		localRank: "JSM_NAMESPACE_LOCAL_RANK", localSize: "JSM_NAMESPACE_LOCAL_SIZE",
	},
	{
		Name: "torch.distributed", rank: "RANK", size: "WORLD_SIZE", also: []string{torchrunAddress, TorchrunPort}, same: torchrunSame, master: true,
	},
}

// Numbers say who a process is.
type Numbers struct {
	Rank      base.Rank
	Size      int
	LocalRank int    // 0 to LocalSize-1, among the processes of this host
	LocalSize int    // processes on this host
	Host      string // equal for processes that share memory
}

// A Manager is a process manager, of which a process asks more than variables say.
type Manager int

// The managers.
const (
	None  Manager = iota
	PMI1          // one that speaks PMI-1
	Slurm         // one that may speak PMI-2, and has variables of its own: Step
)

// An Announcement is a variable by which this process is one of several that it cannot join.
type Announcement struct {
	Variable, Value string
	Why             string // it cannot join them
}

// announcements are variables by which a starter says that there are other processes: by
// their number, or, where counts is false, by being there.
var announcements = []struct {
	name   string
	counts bool
}{
	{PMISize, true}, {"OMPI_COMM_WORLD_SIZE", true}, {"WORLD_SIZE", true}, {"MV2_COMM_WORLD_SIZE", true}, {"JSM_NAMESPACE_SIZE", true},
	{"FLUX_JOB_SIZE", true}, {slurmTasks, true}, {"MPI_LOCALNRANKS", true}, {"PALS_RANKID", false}, {"ALPS_APP_PE", false}, {"PMIX_RANK", false},
}

// Of returns the starter of this process, or nil. Of several it is the first of inner,
// then a manager that speaks PMI-1 or Slurm, and then the first of outer; but one that has started a single
// process hides none that has started several.
func Of(v *variables.Reader) *Starter {
	all := startedBy(v, inner)
	switch {
	case hasPMI1(v):
		all = append(all, &Starter{Name: "PMI-1", size: PMISize, Manager: PMI1})
	case inStep(v):
		all = append(all, &Starter{Name: "Slurm", size: slurmTasks, Manager: Slurm})
	}
	all = append(all, startedBy(v, outer)...)
	for _, s := range all {
		if size, _ := v.Lookup(s.size); size != "1" {
			return s
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// startedBy returns those of a table that have started this process.
func startedBy(v *variables.Reader, table []Starter) (all []*Starter) {
	for _, s := range table {
		needed := append([]string{s.rank, s.size}, s.also...)
		if !slices.ContainsFunc(needed, func(name string) bool { return !v.Has(name) }) {
			all = append(all, &s)
		}
	}
	return all
}

// Announced returns an announcement if some variable says that this process is one of several,
// although Of returns no starter, else nil.
func Announced(v *variables.Reader) *Announcement {
	if a := unsized(v); a != nil {
		return a
	}
	for _, a := range announcements {
		text, _ := v.Lookup(a.name)
		if text == "" || a.counts && text == "1" || !a.counts && alone(v) {
			continue
		}
		return &Announcement{a.name, text, "nothing says how they find each other"}
	}
	return nil
}

// FirstSet returns the first variable that announces processes and is set, and its value, or
// nothing. It is the mark of a starter that stands between.
func FirstSet(v *variables.Reader) (name, value string) {
	for _, a := range announcements {
		if text, _ := v.Lookup(a.name); text != "" {
			return a.name, text
		}
	}
	return "", ""
}

// unsized returns an announcement if some variable numbers this process, or counts those of its host,
// and the number of all, which its starter sets beside it, is missing.
func unsized(v *variables.Reader) *Announcement {
	for _, s := range slices.Concat(inner, outer) {
		size, _ := v.Lookup(s.size)
		if size != "" || s.rank == PMIRank && alone(v) {
			continue
		}
		for _, part := range []struct{ name, alone string }{{s.rank, ""}, {s.localSize, "1"}, {s.localRank, "0"}} {
			if text, _ := v.Lookup(part.name); text != "" && text != part.alone {
				return &Announcement{part.name, text, s.size + ", which says of how many, is not set"}
			}
		}
	}
	return nil
}

// alone reports whether a process manager says that this process is the only one of its job.
func alone(v *variables.Reader) bool {
	for _, name := range []string{slurmTasks, PMISize} {
		if text, _ := v.Lookup(name); text == "1" {
			return true
		}
	}
	return false
}

// Numbers returns who this process is, as its starter says.
func (s *Starter) Numbers(v *variables.Reader) Numbers {
	var i Numbers
	i.Size = v.Number(s.size, 1, variables.ManyRanks, 1)
	i.Rank = base.Rank(v.Number(s.rank, 0, i.Size, 0))
	i.LocalSize = 1
	if v.Has(s.localRank) && v.Has(s.localSize) {
		i.LocalSize = v.Number(s.localSize, 1, i.Size+1, 1)
		i.LocalRank = v.Number(s.localRank, 0, i.LocalSize, 0)
	}
	i.Host = thisHost()
	if group, ok := v.Lookup(s.group); ok {
		i.Host += "-" + group
	}
	if i.LocalSize == 1 {
		i.Host = fmt.Sprintf("rank-%d", i.Rank)
	}
	return i
}

// Places reports whether the starter says where rank 0 is: Store then returns it.
func (s *Starter) Places() bool { return s.master }

// Store returns host and port of torchrun's own store, on the host of rank 0.
func Store(v *variables.Reader) (host string, port int) {
	text, _ := v.Lookup(torchrunAddress)
	host, ok := variables.HostName(text)
	if !ok {
		v.Fail(torchrunAddress, text, "the host of rank 0, by name or address, such as node1 or fd00::1")
	}
	return host, v.Number(TorchrunPort, 1, variables.MaxPort+1, 1)
}

// Start names the start on this host that this process belongs to: equal for all of its
// processes, and different for others. It is empty where the starter does not say it.
func (s *Starter) Start(v *variables.Reader) string {
	var said []string
	for _, name := range s.same {
		if text, ok := v.Lookup(name); ok {
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
	return "0"
}
