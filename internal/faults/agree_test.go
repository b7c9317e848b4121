package faults

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// TestAgreementAtFirstContact has a rank agree with 16 others that it does not reach, and has
// never reached before: it finds that out for all at the same time.
func TestAgreementAtFirstContact(t *testing.T) {
	t.Setenv("GASPI_HEARTBEAT", silence.String())
	const others = 16
	hosts := make([]int, 1+others)
	for r := range hosts[1:] {
		hosts[1+r] = 1
	}
	synctest.Test(t, func(t *testing.T) {
		net := faulty.New(faulty.Config{Hosts: hosts, Latency: latency, Silence: silence, Verdict: verdictOf, Seed: seedOf(t)})
		net.Cut(0, 1)
		net.Cut(1, 0)
		begin := time.Now()
		limit := noticed + transport.LossMost(silence) + patience
		cfg := gaspi.Config{PassiveMax: 64, Groups: 4, KeepGoing: true, Spin: -1, Yield: -1}
		err := gaspi.Local(transport.WithNetwork(t.Context(), net), len(hosts), cfg, func(ctx context.Context, p *gaspi.Proc) error {
			_, err := p.World().Agree(ctx, 1)
			if took := time.Since(begin); took > limit {
				return fmt.Errorf("%v after %v, want an end within %v", err, took, limit)
			}
			if err == nil {
				return fmt.Errorf("an agreement of members that do not reach each other")
			}
			time.Sleep(2 * limit) // sleep: an end would be news to others
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
