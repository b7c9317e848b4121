package boot

import "os"

// EnvVerbose is "1" when the first rank of each host says which transport it uses, as
// gaspi-run -v has it.
const EnvVerbose = "GASPI_VERBOSE"

// EnvLocalCores is how many cores the ranks of this host share. A rank that is
// bound to one core cannot find it out by itself. Missing, it is what the Go
// runtime says.
const EnvLocalCores = "GASPI_LOCAL_CORES"

const mostCores = 1 << 20 // more cores than any host has

// CheckVariables returns an error that names the first variable that makes no sense, of those that
// every rank reads, however it was started. An empty one is as one that is not set.
func CheckVariables() error {
	v := &variables{lookup: func(name string) (string, bool) {
		text := os.Getenv(name)
		return text, text != ""
	}}
	v.flag(EnvVerbose)
	v.flag(EnvTLS)
	v.ports(EnvPorts)
	v.number(EnvLocalCores, 1, mostCores, 1)
	return v.err
}
