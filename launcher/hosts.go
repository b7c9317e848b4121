package launcher

import "github.com/gaspi-go/gaspi-go/launcher/internal/hosts"

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
