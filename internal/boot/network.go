package boot

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// The words of EnvServer.
const (
	serverRank0    = "rank0"
	serverLauncher = "launcher"
)

// A networkPlan is what the environment says about joining over a network.
type networkPlan struct {
	info      Info
	meeting   meeting
	serves    bool // this rank holds the rendezvous
	heartbeat time.Duration
	ports     address.Ports // to listen at, where nothing says a port
}

// fromNetwork begins the session of a rank whom somebody told its number, where
// the rendezvous is, and the key.
func fromNetwork(ctx context.Context, v *variables, tell reports) (Session, error) {
	if err := v.complete(); err != nil {
		return nil, err
	}
	proof, _, err := v.credentials()
	if err != nil {
		return nil, err
	}
	plan, err := parseNetwork(v, proof, tell)
	if err != nil {
		return nil, err
	}
	plan.info.settle()
	return plan.join(ctx)
}

// complete refuses an environment that says a part of what a rank needs that joins over a
// network.
func (v *variables) complete() error {
	var missing, present []string
	for _, name := range []string{EnvRank, EnvSize, EnvRendezvous, EnvKeyFile} {
		switch {
		case v.has(name):
			present = append(present, name)
		case name == EnvKeyFile && v.has(EnvKey):
			present = append(present, EnvKey)
		case name == EnvKeyFile:
			missing = append(missing, EnvKeyFile+" (or "+EnvKey+")")
		default:
			missing = append(missing, name)
		}
	}
	for _, name := range []string{EnvLocalRank, EnvLocalSize, EnvJob} {
		if v.has(name) {
			present = append(present, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s not set although %s %s: start the program with gaspi-run, or set all of %s, %s, %s and %s for a rank that joins over a network, or unset all GASPI_ variables to run it alone (a child of a rank is no rank)",
		list(missing), plural(missing), list(present), plural(present), EnvRank, EnvSize, EnvRendezvous, EnvKeyFile)
}

// list joins names as a sentence does.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func plural(names []string) string {
	if len(names) == 1 {
		return "is"
	}
	return "are"
}

func (p networkPlan) join(ctx context.Context) (Session, error) {
	if !p.serves {
		c, err := p.meeting.join(ctx, p.info)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	listeners, err := p.meeting.listen(ctx)
	if err != nil {
		return nil, err
	}
	return p.serve(listeners)
}

// serve is join at the rank that holds the rendezvous, on listeners, which it takes.
func (p networkPlan) serve(listeners []net.Listener) (Session, error) {
	h, err := newHost(listeners, p.info, p.meeting, p.heartbeat)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func parseNetwork(v *variables, proof auth.Credentials, tell reports) (networkPlan, error) {
	p := networkPlan{info: v.info(proof.Key.JobID())}
	if !v.has(EnvHost) {
		p.info.Host = fmt.Sprintf("rank-%d", p.info.Rank) // alone, as far as anybody knows
	}
	p.limits(v, tell)
	p.meeting.proof = proof
	p.meeting.addresses = v.addresses(EnvRendezvous)
	p.meeting.launched = v.choice(EnvServer, serverRank0, serverLauncher) == serverLauncher
	p.serves = !p.meeting.launched && p.info.Rank == 0
	return p, v.err
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
	v := &variables{lookup: lookup}
	s := v.settings()
	return s, v.err
}

func (v *variables) settings() Settings {
	return Settings{
		Heartbeat:   v.duration(EnvHeartbeat, MinHeartbeat, MaxHeartbeat, DefaultHeartbeat),
		Ports:       v.ports(EnvPorts),
		TLS:         v.flag(EnvTLS),
		JoinTimeout: v.duration(EnvJoinTimeout, time.Second, longestJoin, defaultJoin),
	}
}

// limits reads what is common to all ways of joining over a network.
func (p *networkPlan) limits(v *variables, tell reports) {
	s := v.settings()
	p.heartbeat, p.ports = s.Heartbeat, s.Ports
	p.meeting = meeting{secure: s.TLS, tell: tell, patience: s.JoinTimeout}
	if p.meeting.patience == 0 {
		p.meeting.patience = longestJoin // whoever says 0 ends the job himself
	}
}

// credentials returns the key of the job from a file or a variable, and whether there is
// one.
func (v *variables) credentials() (proof auth.Credentials, given bool, err error) {
	file, inFile := v.lookup(EnvKeyFile)
	text, inVariable := v.lookup(EnvKey)
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

// settle keeps children of this process from taking themselves for the rank: they find
// its number, and no way to its job.
func (i Info) settle() {
	for _, name := range []string{EnvKeyFile, EnvKey, EnvRendezvous} {
		os.Unsetenv(name)
	}
	os.Setenv(EnvRank, strconv.Itoa(int(i.Rank)))
	os.Setenv(EnvSize, strconv.Itoa(i.Size))
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
