package boot

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
)

// An environment has the variables that a process was started with.
type environment struct{ variables.Reader }

// newEnvironment returns the environment that lookup, which is os.LookupEnv or like it, reads.
func newEnvironment(lookup func(string) (string, bool)) *environment {
	return &environment{variables.Reader{Lookup: lookup}}
}

// info returns who a rank is, as the GASPI_ variables say. A job that is not named is
// called job, and no name at all is refused.
func (v *environment) info(job string) Info {
	i := Info{Job: job, Host: localHost}
	i.Size = v.Number(EnvSize, 1, variables.ManyRanks, 1)
	i.Rank = base.Rank(v.Number(EnvRank, 0, i.Size, 0))
	i.LocalSize = v.Number(EnvLocalSize, 1, i.Size+1, 1)
	i.LocalRank = v.Number(EnvLocalRank, 0, i.LocalSize, 0)
	v.names(&i)
	return i
}

// names gives a job and a host the names that the user has chosen.
func (v *environment) names(i *Info) {
	if text, ok := v.Lookup(EnvJob); ok {
		i.Job = text
	}
	if err := CheckJob(i.Job); err != nil && v.Err == nil {
		v.Err = fmt.Errorf("%s: %w", EnvJob, err)
	}
	if text, ok := v.Lookup(EnvHost); ok {
		i.Host = text
		if text == "" || len(text) > variables.MaxHost || !utf8.ValidString(text) {
			v.Fail(EnvHost, text, fmt.Sprintf("the number or name of this host, 1 to %d bytes of UTF-8", variables.MaxHost))
		}
	}
}

// checkMeeting refuses an environment that says where and as whom ranks meet and makes no sense,
// before anything is asked of a process manager: it kills a process that breaks off.
func (v *environment) checkMeeting() {
	if v.Has(EnvRendezvous) {
		v.Addresses(EnvRendezvous)
	}
	text, _ := v.Lookup(EnvInterface)
	if err := address.Check(text); err != nil && v.Err == nil {
		v.Err = fmt.Errorf("%s: %w", EnvInterface, err)
	}
	v.names(&Info{Job: "job"})
}

// Settings are what an environment says for all ranks of a job.
type Settings struct {
	TLS         bool
	Heartbeat   time.Duration // 0 for ever
	JoinTimeout time.Duration // 0 for ever
	Ports       address.Ports
}

// ReadSettings reads them by lookup, which is os.LookupEnv or like it. A variable that is not
// set stands for its default. The error names the first variable that makes no sense.
func ReadSettings(lookup func(string) (string, bool)) (Settings, error) {
	v := newEnvironment(lookup)
	s := v.settings()
	return s, v.Err
}

func (v *environment) settings() Settings {
	return Settings{
		Heartbeat:   v.Duration(EnvHeartbeat, MinHeartbeat, MaxHeartbeat, DefaultHeartbeat),
		Ports:       v.Ports(EnvPorts),
		TLS:         v.Flag(EnvTLS),
		JoinTimeout: v.Duration(EnvJoinTimeout, time.Second, longestJoin, defaultJoin),
	}
}

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
	v := newEnvironment(func(name string) (string, bool) {
		text := os.Getenv(name)
		return text, text != ""
	})
	v.Flag(EnvVerbose)
	v.Flag(EnvTLS)
	v.Ports(EnvPorts)
	v.Number(EnvLocalCores, 1, mostCores, 1)
	return v.Err
}

// credentials returns the key of the job from a file or a variable, and whether there is
// one.
func (v *environment) credentials() (proof auth.Credentials, given bool, err error) {
	file, inFile := v.Lookup(EnvKeyFile)
	text, inVariable := v.Lookup(EnvKey)
	switch {
	case inFile && inVariable:
		return proof, true, fmt.Errorf("%s and %s are both set: keep one of them", EnvKeyFile, EnvKey)
	case inFile:
		proof, err = takeCredentials(file)
	case inVariable:
		if proof.Key, err = auth.ParseKey(text); err != nil {
			err = fmt.Errorf("%s: %w", EnvKey, err)
		}
	}
	return proof, inFile || inVariable, err
}

// takeCredentials reads the file with credentials that EnvKeyFile names, and closes the descriptor if the file is one that was
// inherited, so that children of this process do not have it.
func takeCredentials(path string) (auth.Credentials, error) {
	proof, err := auth.ReadCredentials(EnvKeyFile, path)
	if err != nil {
		return auth.Credentials{}, err
	}
	for _, prefix := range []string{"/proc/self/fd/", "/dev/fd/"} {
		if digits, ok := strings.CutPrefix(path, prefix); ok {
			if fd, err := strconv.Atoi(digits); err == nil && fd > 2 {
				syscall.Close(fd)
			}
		}
	}
	return proof, nil
}
