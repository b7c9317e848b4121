package boot

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/pmi"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
)

// fromPMI1 begins the session of a process whose manager speaks PMI-1. The only process
// of a job is a job of one rank.
func fromPMI1(ctx context.Context, v *environment, tell reports) (Session, error) {
	var plan networkPlan
	plan.limits(v, tell)
	v.checkMeeting()
	if v.Err != nil {
		return nil, v.Err
	}
	proof, given, err := v.credentials()
	if err != nil {
		return nil, err
	}
	plan.meeting.proof = proof
	p, err := plan.openPMI1(ctx, v)
	if p == nil || err != nil {
		return nil, err
	}
	plan.serves = plan.info.Rank == 0
	return plan.overStore(ctx, p, v, given, netip.Addr{})
}

// openPMI1 begins to speak to the process manager, and notes who this rank is. It returns
// nil for the only process of a job.
func (p *networkPlan) openPMI1(ctx context.Context, v *environment) (*pmi.V1, error) {
	ctx, cancel := context.WithTimeout(ctx, p.meeting.patience)
	defer cancel()
	manager, err := v.dialPMI1(ctx, &p.info)
	if manager == nil || err != nil {
		return nil, err
	}
	if err := manager.Begin(ctx); err != nil {
		return nil, err
	}
	if p.info.Size == 1 {
		return nil, manager.Close(ctx)
	}
	p.place(ctx, manager)
	return manager, nil
}

// dialPMI1 returns the connection to the process manager and notes rank and size, or
// returns nil for the only process of a job, if that is known without asking.
func (v *environment) dialPMI1(ctx context.Context, i *Info) (*pmi.V1, error) {
	if !v.Has(starters.PMIFD) {
		return v.callPMI1(ctx, i)
	}
	i.Size = v.Number(starters.PMISize, 1, variables.ManyRanks, 1)
	i.Rank = base.Rank(v.Number(starters.PMIRank, 0, i.Size, 0))
	if v.Err != nil || i.Size == 1 {
		return nil, v.Err
	}
	conn, err := v.takePMI()
	if err != nil {
		return nil, err
	}
	return pmi.NewV1(conn), nil
}

// callPMI1 opens the connection, and asks who this process is.
func (v *environment) callPMI1(ctx context.Context, i *Info) (*pmi.V1, error) {
	address, _ := v.Lookup(starters.PMIPort)
	id := v.Number(starters.PMIID, 0, variables.ManyRanks, 0)
	if v.Err != nil {
		return nil, v.Err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s=%.80q is not where a process manager can be reached: %w", starters.PMIPort, address, err)
	}
	p := pmi.NewV1(conn)
	rank, size, err := p.Introduce(ctx, id)
	if err != nil {
		return nil, err
	}
	os.Unsetenv(starters.PMIPort)
	i.Rank, i.Size = base.Rank(rank), size
	return p, nil
}

// place notes on which host this rank is. Each rank is alone on its host if the manager
// does not say it.
func (p *networkPlan) place(ctx context.Context, manager *pmi.V1) {
	p.info.Host, p.info.LocalRank, p.info.LocalSize = fmt.Sprintf("rank-%d", p.info.Rank), 0, 1
	at, err := manager.Locate(ctx, int(p.info.Rank), p.info.Size)
	if err != nil {
		p.meeting.tell.logs(fmt.Sprintf("ranks share no memory, since the process manager does not say which are on one host: %v", err))
		return
	}
	p.info.Host, p.info.LocalRank, p.info.LocalSize = strconv.Itoa(at.Host), at.LocalRank, at.LocalSize
}
