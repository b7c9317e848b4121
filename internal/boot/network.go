package boot

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

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
}

// fromNetwork begins the session of a rank whom somebody told its number, where
// the rendezvous is, and the key.
func fromNetwork(ctx context.Context, v *variables, log func(string)) (Session, error) {
	keyFile, ok := v.lookup(EnvKeyFile)
	if !ok {
		return nil, fmt.Errorf("%s is not set although %s is: name the file with the key of the job (64 hexadecimal digits, such as from: openssl rand -hex 32)", EnvKeyFile, EnvRendezvous)
	}
	proof, err := takeCredentials(keyFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvKeyFile, err)
	}
	plan, err := parseNetwork(v, proof)
	if err != nil {
		return nil, err
	}
	os.Unsetenv(EnvKeyFile)
	os.Unsetenv(EnvRendezvous)
	nameProcess()
	return plan.join(ctx, log)
}

func (p networkPlan) join(ctx context.Context, log func(string)) (Session, error) {
	if !p.serves {
		p.meeting.log = log
		c, err := p.meeting.join(ctx, p.info)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	listeners, err := listen(ctx, p.meeting.addresses)
	if err != nil {
		return nil, err
	}
	h, err := newHost(listeners, p.info, p.meeting, p.heartbeat, log)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func parseNetwork(v *variables, proof auth.Credentials) (networkPlan, error) {
	for _, name := range []string{EnvRank, EnvSize, EnvRendezvous} {
		if !v.has(name) {
			return networkPlan{}, fmt.Errorf("%s is not set although %s is: a rank that joins over a network needs %s, %s, %s and %s",
				name, EnvKeyFile, EnvRank, EnvSize, EnvRendezvous, EnvKeyFile)
		}
	}
	p := networkPlan{info: v.info(proof.Key.JobID())}
	if !v.has(EnvHost) {
		p.info.Host = fmt.Sprintf("rank-%d", p.info.Rank) // alone, as far as anybody knows
	}
	p.meeting = v.meeting(proof)
	p.meeting.addresses = v.addresses(EnvRendezvous)
	p.serves = v.choice(EnvServer, serverRank0, serverLauncher) == serverRank0 && p.info.Rank == 0
	p.heartbeat = v.duration(EnvHeartbeat, MinHeartbeat, DefaultHeartbeat)
	return p, v.err
}

// meeting returns what is common to all ways of joining over a network.
func (v *variables) meeting(proof auth.Credentials) meeting {
	m := meeting{proof: proof, secure: v.flag(EnvTLS)}
	m.patience = v.duration(EnvJoinTimeout, time.Second, defaultJoin)
	if m.patience == 0 {
		m.patience = 365 * 24 * time.Hour // whoever says 0 ends the job himself
	}
	return m
}

// takeCredentials reads a file with credentials, and closes the descriptor if the file is one that was
// inherited, so that children of this process do not have it.
func takeCredentials(path string) (auth.Credentials, error) {
	proof, err := auth.ReadCredentials(path)
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
