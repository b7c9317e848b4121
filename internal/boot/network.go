package boot

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
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
func fromNetwork(ctx context.Context, v *environment, tell reports) (Session, error) {
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
func (v *environment) complete() error {
	var missing, present []string
	for _, name := range []string{EnvRank, EnvSize, EnvRendezvous, EnvKeyFile} {
		switch {
		case v.Has(name):
			present = append(present, name)
		case name == EnvKeyFile && v.Has(EnvKey):
			present = append(present, EnvKey)
		case name == EnvKeyFile:
			missing = append(missing, EnvKeyFile+" (or "+EnvKey+")")
		default:
			missing = append(missing, name)
		}
	}
	for _, name := range []string{EnvLocalRank, EnvLocalSize, EnvJob} {
		if v.Has(name) {
			present = append(present, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s not set although %s %s: start the program with gaspi-run, or set all of %s, %s, %s and %s for a rank that joins over a network, or unset all GASPI_ variables to run it alone (a child of a rank is no rank)",
		phrase.List(missing), phrase.Plural(len(missing), "is", "are"), phrase.List(present), phrase.Plural(len(present), "is", "are"), EnvRank, EnvSize, EnvRendezvous, EnvKeyFile)
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

func parseNetwork(v *environment, proof auth.Credentials, tell reports) (networkPlan, error) {
	p := networkPlan{info: v.info(proof.Key.JobID())}
	if !v.Has(EnvHost) {
		p.info.Host = fmt.Sprintf("rank-%d", p.info.Rank) // alone, as far as anybody knows
	}
	p.limits(v, tell)
	p.meeting.proof = proof
	p.meeting.addresses = v.Addresses(EnvRendezvous)
	p.meeting.launched = v.Choice(EnvServer, serverRank0, serverLauncher) == serverLauncher
	p.serves = !p.meeting.launched && p.info.Rank == 0
	return p, v.Err
}

// limits reads what is common to all ways of joining over a network.
func (p *networkPlan) limits(v *environment, tell reports) {
	s := v.settings()
	p.heartbeat, p.ports = s.Heartbeat, s.Ports
	p.meeting = meeting{secure: s.TLS, tell: tell, patience: s.JoinTimeout}
	if p.meeting.patience == 0 {
		p.meeting.patience = longestJoin // whoever says 0 ends the job himself
	}
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
