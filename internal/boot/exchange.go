package boot

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// A store is what a process manager offers its processes to find each other: values
// that all can read after a fence. PMI-1 and PMI-2 are two. Its methods block until
// ctx ends.
type store interface {
	Name() string                                        // such as "PMI-2"
	Put(ctx context.Context, key, value string) error    // for all to read after the next fence
	Fence(ctx context.Context) error                     // returns when all processes have called it
	Get(ctx context.Context, key string) (string, error) // of what was put before the last fence
	Close(ctx context.Context) error                     // ends the talk well
	Abandon()                                            // ends it otherwise, without a sign to the manager
}

// A patientStore is a store whose answers are waited for no longer than patience.
type patientStore struct {
	store
	patience time.Duration
}

func (s patientStore) within(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err := call(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer within %v, the limit of %s: %w", s.patience, EnvJoinTimeout, err)
	}
	return err
}

func (s patientStore) Put(ctx context.Context, key, value string) error {
	return s.within(ctx, func(ctx context.Context) error { return s.store.Put(ctx, key, value) })
}

func (s patientStore) Fence(ctx context.Context) error { return s.within(ctx, s.store.Fence) }

func (s patientStore) Get(ctx context.Context, key string) (value string, err error) {
	err = s.within(ctx, func(ctx context.Context) error {
		value, err = s.store.Get(ctx, key)
		return err
	})
	return value, err
}

func (s patientStore) Close(ctx context.Context) error { return s.within(ctx, s.store.Close) }

// The names of what rank 0 tells the others through a store.
const (
	storeRendezvous = "gaspi-rendezvous"
	storeKey        = "gaspi-key"
	storeKeyGiven   = "given" // in place of a key that the user has given to all ranks
)

// A referral is what rank 0 tells the others through a store or a local socket.
type referral struct {
	addresses []string // of the rendezvous
	key       string   // auth.Key.Text, or storeKeyGiven
}

// text is the referral as it travels through a local socket.
func (r referral) text() string { return strings.Join(r.addresses, ",") + "\n" + r.key }

// parseReferral reads what text has written.
func parseReferral(text string) (referral, error) {
	where, key, ok := strings.Cut(text, "\n")
	if !ok {
		return referral{}, fmt.Errorf("rank 0 told through a local socket %.80q, which says no key", text)
	}
	return referral{strings.Split(where, ","), key}, nil
}

// refer returns the referral to a rendezvous at addresses. If the user has given no
// key, it makes one.
func (p *networkPlan) refer(addresses []string, given bool) referral {
	if given {
		return referral{addresses, storeKeyGiven}
	}
	p.meeting.proof.Key = auth.NewKey()
	return referral{addresses, p.meeting.proof.Key.Text()}
}

// follow makes a referral of rank 0 the way this rank joins. given says that the user has
// given this rank a key, which then is not that of the referral. from names who brought
// the referral.
func (p *networkPlan) follow(r referral, given bool, from string) error {
	switch {
	case r.key == storeKeyGiven && !given:
		return fmt.Errorf("rank 0 has a key from %s or %s, and this rank has none: set it for all ranks or for none", EnvKeyFile, EnvKey)
	case r.key != storeKeyGiven && given:
		return fmt.Errorf("this rank has a key from %s or %s, and rank 0 has none: set it for all ranks or for none", EnvKeyFile, EnvKey)
	case !given:
		var err error
		if p.meeting.proof.Key, err = auth.ParseKey(r.key); err != nil {
			return fmt.Errorf("the key that rank 0 told through %s: %w", from, err)
		}
	}
	p.meeting.addresses = r.addresses
	v := newEnvironment(func(string) (string, bool) { return strings.Join(r.addresses, ","), true })
	v.Addresses("the rendezvous that rank 0 told through " + from)
	return v.Err
}

// overStore lets rank 0 open the rendezvous, and tell the others through a store, which
// it takes, where it is and the key. given says that the user has given a key. hint is
// an address that other hosts may be reached by, if one is known.
func (p networkPlan) overStore(ctx context.Context, manager store, v *environment, given bool, hint netip.Addr) (Session, error) {
	s := patientStore{manager, p.meeting.patience}
	if p.serves {
		return p.tellStore(ctx, s, v, given, hint)
	}
	r, err := p.hearStore(ctx, s)
	if err == nil {
		err = p.follow(r, given, s.Name())
	}
	if err != nil {
		s.Abandon()
		return nil, err
	}
	if err := s.Close(ctx); err != nil {
		return nil, err
	}
	p.nameJob(v)
	if v.Err != nil {
		return nil, v.Err
	}
	p.info.settle()
	return p.join(ctx)
}

// tellStore is overStore at rank 0.
func (p networkPlan) tellStore(ctx context.Context, s store, v *environment, given bool, hint netip.Addr) (Session, error) {
	listeners, addresses, err := p.openRendezvous(ctx, v, hint)
	if err != nil {
		s.Abandon()
		return nil, err
	}
	r := p.refer(addresses, given)
	if err = s.Put(ctx, storeRendezvous, strings.Join(r.addresses, ",")); err == nil {
		err = s.Put(ctx, storeKey, r.key)
	}
	if err == nil {
		err = p.fenceStore(ctx, s)
	}
	if err == nil {
		err = s.Close(ctx)
	} else {
		s.Abandon()
	}
	p.nameJob(v)
	if err = base.OneLine(err, v.Err); err != nil {
		auth.CloseAll(listeners)
		return nil, err
	}
	p.info.settle()
	return p.serve(listeners)
}

// hearStore is overStore at the others, up to where they know where to go.
func (p networkPlan) hearStore(ctx context.Context, s store) (r referral, err error) {
	if err = p.fenceStore(ctx, s); err != nil {
		return r, err
	}
	where, err := s.Get(ctx, storeRendezvous)
	if err != nil {
		return r, err
	}
	r.addresses = strings.Split(where, ",")
	r.key, err = s.Get(ctx, storeKey)
	return r, err
}

// fenceStore waits for all ranks at the fence of a store, which does not say who is
// missing.
func (p networkPlan) fenceStore(ctx context.Context, s store) error {
	done := make(chan struct{})
	defer close(done)
	if p.serves {
		go p.meeting.tell.remind(done, func() string {
			return fmt.Sprintf("all %d ranks to come to the fence of %s", p.info.Size, s.Name())
		})
	}
	if err := s.Fence(ctx); err != nil {
		return fmt.Errorf("the fence of %s, to which all %d ranks must come: %w", s.Name(), p.info.Size, err)
	}
	return nil
}

// nameJob names a job without a name after its key.
func (p *networkPlan) nameJob(v *environment) {
	if p.info.Job == "" {
		p.info.Job = p.meeting.proof.Key.JobID()
	}
	v.names(&p.info)
}

// openRendezvous listens where the user says, or else at a free port of p.ports, and returns
// where other ranks find the listeners.
func (p *networkPlan) openRendezvous(ctx context.Context, v *environment, hint netip.Addr) ([]net.Listener, []string, error) {
	if v.Has(EnvRendezvous) {
		p.meeting.addresses = v.Addresses(EnvRendezvous)
		if v.Err != nil {
			return nil, nil, v.Err
		}
		listeners, err := p.meeting.listen(ctx)
		return listeners, p.meeting.addresses, err
	}
	listeners, err := p.listenAnywhere(v, hint)
	var addresses []string
	for _, l := range listeners {
		addresses = append(addresses, address.Told(l))
	}
	return listeners, addresses, err
}

// listenAnywhere opens a free port of p.ports on each of the addresses by which other hosts
// can reach this one, or on loopback if there are none.
func (p networkPlan) listenAnywhere(v *environment, hint netip.Addr) ([]net.Listener, error) {
	addresses, err := p.reachable(v, hint)
	if err != nil {
		return nil, err
	}
	const few = 8 // more take too long to try, and do not fit into a value
	var out []net.Listener
	var errs []error
	for _, a := range addresses[:min(len(addresses), few)] {
		var l net.Listener
		err := p.ports.Open(func(port uint16) (err error) {
			l, err = net.Listen("tcp", netip.AddrPortFrom(a, port).String())
			return err
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("opening the rendezvous of the job: %w", base.OneLine(errs...))
	}
	return out, nil
}

// reachable returns the addresses of this host, best first: the one that leads
// to the hint is most likely to be the one that others see.
func (p networkPlan) reachable(v *environment, hint netip.Addr) ([]netip.Addr, error) {
	spec, _ := v.Lookup(EnvInterface)
	if p.info.LocalSize == p.info.Size {
		return address.Choose(spec, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	all, err := address.Choose(spec, netip.Addr{})
	if err != nil || spec != "" || !hint.IsValid() || hint.IsLoopback() {
		return all, err
	}
	best, err := address.Choose("", hint)
	if err != nil {
		return all, nil // only the starter may be able to reach the hint
	}
	return append(best, slices.DeleteFunc(all, func(a netip.Addr) bool { return a == best[0] })...), nil
}
