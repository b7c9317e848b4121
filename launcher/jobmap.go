package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os/exec"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A JobMap lists the hosts, ranks and cores that Run would use, and the program that it would
// start.
type JobMap struct {
	Program string // a path, or what the go command would build
	Package bool   // it would be built first
	Ranks   int    // of the job; of a node, those of that node
	Places  []Placement
}

// A Placement is a host with its ranks.
type Placement struct {
	Host  string // as the user named it
	By    string // what starts its ranks: "this process", or a command such as "ssh"
	First Rank   // of a node, 0: it follows from the nodes before
	Ranks int    // from First on
	Cores []int  // those that this process may use; nil on another host, where they are not known
}

// Core returns the core that BindCore gives the i-th rank of the host. Cores is not nil.
func (p Placement) Core(i int) int { return supervise.CoreOf(i, p.Ranks, p.Cores) }

// MapJob returns the map of a job, and starts nothing. Its error is the one that Run would have
// for the Config, for a program of this host that is not there or cannot be executed, for a
// key, an interface or a command that is missing here; a package is not built, and other hosts
// are not asked.
func MapJob(cfg Config) (JobMap, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return JobMap{}, err
	}
	if err := cfg.checkTrace(); err != nil {
		return JobMap{}, err
	}
	t, err := executable.Find(cfg.Program)
	if err != nil {
		return JobMap{}, err
	}
	p := JobMap{Program: t.Binary(), Package: t.Binary() == "", Ranks: cfg.Ranks}
	if p.Package {
		p.Program = t.Package()
	} else if err := executable.Check(t.Binary(), cfg.Program); err != nil {
		return JobMap{}, err
	}
	all, err := cfg.places()
	if err != nil {
		return JobMap{}, err
	}
	cores, err := thread.Cores()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return JobMap{}, fmt.Errorf("cores of this process: %w", err)
	}
	for _, place := range all {
		where := Placement{Host: place.Name, By: "this process", First: place.First, Ranks: place.Ranks, Cores: cores}
		if !place.Here {
			where.By, where.Cores = cfg.starterName(), nil
			if _, err := exec.LookPath(where.By); err != nil {
				return JobMap{}, fmt.Errorf("host %s: %w", place.Name, err)
			}
		}
		p.Places = append(p.Places, where)
	}
	return p, cfg.checkHere(all)
}

// starterName returns the command that starts agents on other hosts.
func (c Config) starterName() string {
	if c.Remote.Srun {
		return "srun"
	}
	return c.Remote.SSH[0]
}

// checkHere looks for what a job needs of this host, beside the program.
func (c Config) checkHere(all []hosts.Place) error {
	if c.Node.several() {
		if _, err := c.Node.key(); err != nil {
			return err
		}
	}
	if c.Interface == "" && !c.Node.several() && !slices.ContainsFunc(all, hosts.Place.Elsewhere) {
		return nil // any address does, or none
	}
	_, err := address.Choose(c.Interface, netip.Addr{})
	return err
}

// places returns where the ranks go, host by host.
func (c Config) places() ([]hosts.Place, error) {
	var list []hosts.Entry // nil without hosts
	if c.Hosts != nil {
		list = []hosts.Entry{}
	}
	for _, h := range c.Hosts {
		list = append(list, hosts.Entry(h))
	}
	return hosts.Places(list, c.Ranks)
}

// ParseHosts reads a list of hosts such as "a:2,b,[::1]:4". A host without a
// number has one slot; one that comes again gets more.
func ParseHosts(list string) ([]Host, error) { return exported(hosts.Parse(list)) }

// ReadHostfile reads a file of hosts in the format of mpirun: "NAME slots=N" or
// "NAME:N" in each line, comments after #.
func ReadHostfile(path string) ([]Host, error) { return exported(hosts.ReadFile(path)) }

// SlurmHosts returns the nodes of the Slurm allocation that the environment
// describes, or nil where there is none. lookup is os.LookupEnv, or like it.
func SlurmHosts(lookup func(string) (string, bool)) ([]Host, error) {
	return exported(hosts.Slurm(lookup))
}

// exported returns hosts as users see them.
func exported(all []hosts.Entry, err error) ([]Host, error) {
	var list []Host
	for _, h := range all {
		list = append(list, Host(h))
	}
	return list, err
}
