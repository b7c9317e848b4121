//go:build rdma

package peer

import (
	"strings"
	"testing"
)

// Goal: each way of making progress gives right results and figures, of messages that
// the provider takes at once and of such as it does not, more than are under way at a
// time among them.
func TestLibfabric(t *testing.T) {
	for _, l := range fabrics() {
		t.Run(l.name, func(t *testing.T) {
			j := Job{Ranks: 2, Provider: "tcp;ofi_rxm", Bound: true}
			for _, count := range []uint64{1, 8, 1003, 5 << 20} {
				for _, p := range each(l.name, []string{"latency", "delivery", "bandwidth"}) {
					p.Count = count
					j.Points = append(j.Points, p)
				}
			}
			p, err := Open(t.Context(), l.name, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(p.Version, "1.") && !strings.HasPrefix(p.Version, "2.") {
				t.Errorf("version %q", p.Version)
			}
			wantResults(t, p, j)
		})
	}
}

// Goal: what is wrong with a provider is one sentence.
func TestLibfabricWithoutProvider(t *testing.T) {
	p, err := Open(t.Context(), "libfabric", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Ranks: 2, Provider: "nothing", Limit: generous, Points: []Point{{Operation: "latency", Count: 8}}}
	err = p.Run(t.Context(), j, func(int) {}, func(r PointResult) { t.Errorf("a result: %+v", r) })
	if err == nil || !strings.Contains(err.Error(), "provider nothing is not there") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one sentence about the provider", err)
	}
}
