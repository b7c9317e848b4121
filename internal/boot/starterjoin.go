package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
	"github.com/gaspi-go/gaspi-go/internal/near"
)

// A started is a process of a starter that says by variables all that there is to know.
type started struct{ *starters.Starter }

// infoFrom returns who the process is that has these numbers.
func infoFrom(n starters.Numbers) Info {
	return Info{Rank: n.Rank, Size: n.Size, LocalRank: n.LocalRank, LocalSize: n.LocalSize, Host: n.Host}
}

// begin begins the session of a process of the starter. Ranks that have a key meet at the
// address that the user or the starter gives. Without a key, ranks that are all on one host
// find rank 0 through a Unix socket. For a job of one process it returns no session.
func (s started) begin(ctx context.Context, v *environment, tell reports) (Session, error) {
	plan := networkPlan{info: infoFrom(s.Numbers(&v.Reader))}
	plan.limits(v, tell)
	s.checkPlace(v)
	plan.serves = plan.info.Rank == 0
	if v.Err != nil || plan.info.Size == 1 {
		return nil, v.Err
	}
	proof, given, err := v.credentials()
	if err != nil {
		return nil, err
	}
	plan.meeting.proof = proof
	start := s.Start(&v.Reader)
	switch oneHost := start != "" && plan.info.LocalSize == plan.info.Size; {
	case given && s.isPlaced(v):
		plan.meeting.addresses = s.rendezvous(v)
		if !v.Has(EnvRendezvous) {
			plan.meeting.variable = starters.TorchrunPort
		}
		plan.nameJob(v)
		if v.Err != nil {
			return nil, v.Err
		}
		plan.info.settle()
		return plan.join(ctx)
	case oneHost:
		return plan.overSocket(ctx, v, given, near.Name(s.Name, start))
	}
	return nil, s.unmet(plan.info, given, s.isPlaced(v))
}

// checkPlace refuses an environment that says where rank 0 is and makes no sense, whether or
// not this job needs it.
func (s started) checkPlace(v *environment) {
	v.checkMeeting()
	if s.Places() {
		starters.Store(&v.Reader)
	}
}

// isPlaced reports whether the environment says where rank 0 is to be found.
func (s started) isPlaced(v *environment) bool { return s.Places() || v.Has(EnvRendezvous) }

// rendezvous returns where rank 0 is to be found, for a starter for which isPlaced holds. One
// that names a host keeps the port for itself, so ours is the next one.
func (s started) rendezvous(v *environment) []string {
	if v.Has(EnvRendezvous) {
		return v.Addresses(EnvRendezvous)
	}
	host, port := starters.Store(&v.Reader)
	if port == variables.MaxPort {
		v.Fail(starters.TorchrunPort, strconv.Itoa(port), fmt.Sprintf("a port below %d, since rank 0 listens at the next one; or set %s", variables.MaxPort, EnvRendezvous))
	}
	return []string{net.JoinHostPort(host, strconv.Itoa(port+1))}
}

// unmet says that the ranks of a job cannot find each other, and how they could.
func (s started) unmet(i Info, given, placed bool) error {
	lacking := EnvKeyFile + " (or " + EnvKey + ")"
	switch {
	case given:
		lacking = EnvRendezvous
	case !placed:
		lacking = EnvRendezvous + " and " + lacking
	}
	return fmt.Errorf("this is rank %d of %d of %s, which does not say that all ranks are on one host, so they need %s to find each other: start the program with gaspi-run --hosts, or set that for all ranks (%s is HOST:PORT of rank 0)",
		i.Rank, i.Size, s.Name, lacking, EnvRendezvous)
}

// overSocket lets rank 0 open the rendezvous, and tell the others of this host through a
// socket called name where it is and the key.
func (p networkPlan) overSocket(ctx context.Context, v *environment, given bool, name string) (Session, error) {
	if p.serves {
		return p.tellSocket(ctx, v, given, name)
	}
	r, err := p.hearSocket(ctx, name)
	if err == nil {
		err = p.follow(r, given, "a local socket")
	}
	if err != nil {
		return nil, err
	}
	p.nameJob(v)
	if v.Err != nil {
		return nil, v.Err
	}
	p.info.settle()
	return p.join(ctx)
}

// tellSocket is overSocket at rank 0. The socket is there until all ranks have come.
func (p networkPlan) tellSocket(ctx context.Context, v *environment, given bool, name string) (Session, error) {
	socket, err := near.Listen(name)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("rank 0 tells the other ranks of this host where it is, and another process already does (%w): if that is of this job, two processes have rank 0, so give each rank a number of its own; else wait for its end", err)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%s has no sockets without a file; set %s and %s for all ranks: %w", runtime.GOOS, EnvRendezvous, EnvKeyFile, err)
	}
	if err != nil {
		return nil, fmt.Errorf("rank 0 tells the other ranks of this host where it is, and cannot: %w", err)
	}
	listeners, addresses, err := p.openRendezvous(ctx, v, netip.Addr{})
	if err != nil {
		socket.Close()
		return nil, err
	}
	r := p.refer(addresses, given)
	p.nameJob(v)
	if v.Err != nil {
		auth.CloseAll(append(listeners, socket))
		return nil, v.Err
	}
	p.info.settle()
	h, err := newHost(listeners, p.info, p.meeting, p.heartbeat)
	if err != nil {
		socket.Close()
		return nil, err
	}
	h.serving.Go(func() { near.Serve(socket, r.text) })
	h.serving.Go(func() {
		defer socket.Close()
		select {
		case <-h.server.roll.full:
		case <-h.over:
		}
	})
	return h, nil
}

// hearSocket returns the referral of rank 0. It blocks until rank 0 is there, for as long
// as the meeting is waited for.
func (p networkPlan) hearSocket(ctx context.Context, name string) (referral, error) {
	limited, cancel := context.WithTimeout(ctx, p.meeting.patience)
	defer cancel()
	if p.info.reminds() {
		go p.meeting.tell.remind(limited.Done(), func() string { return missingText([]base.Rank{0}, p.info.Size) })
	}
	text, err := near.Await(limited, name)
	switch {
	case err == nil:
		return parseReferral(text)
	case errors.Is(err, near.ErrStranger):
		return referral{}, fmt.Errorf("the socket at which rank 0 should be: %w", err)
	case ctx.Err() != nil:
		return referral{}, ctx.Err()
	}
	return referral{}, fmt.Errorf("rank 0 has not come within %v, the limit of %s: %w", p.meeting.patience, EnvJoinTimeout, err)
}
