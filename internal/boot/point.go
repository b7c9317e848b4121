package boot

import "context"

// ListenAt returns where the rendezvous listens that others reach at these addresses, as
// host:port: at those that belong to this host, or at the ports on all of its addresses if
// none does, as behind a service of a cluster. It asks the resolver for at most 3 s; a name
// that is not known yet belongs to no host. The error says which of them is no host:port.
func ListenAt(ctx context.Context, addresses []string) ([]string, error) {
	m := meeting{addresses: addresses}
	return m.listenAt(ctx)
}
