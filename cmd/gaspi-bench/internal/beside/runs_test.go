package beside

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer/peertest"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: a peer does what the rows of ours are about: the same operations, bytes and elements,
// each size once.
func TestPointsOfPeers(t *testing.T) {
	call := func(op schedule.Operation, root int) *collective.Spec {
		return &collective.Spec{What: op, Algorithm: collective.Auto, Dtype: collective.Dtypes()[0], Op: collectives.Max, Root: root}
	}
	for _, c := range []struct {
		name      string
		op        string
		transport string
		ranks     int
		call      *collective.Spec
		sizes     []uint64
		want      []string // point = bytes of its row
	}{
		{"latency", "latency", "shm", 2, nil, []uint64{8, 1000},
			[]string{"latency:8:send-recv=8", "latency:8:put=8", "delivery:8:send-recv=8", "delivery:8:put=8",
				"latency:1000:send-recv=1000", "latency:1000:put=1000", "delivery:1000:send-recv=1000", "delivery:1000:put=1000"}},
		{"bandwidth in memory", "bandwidth", "shm", 2, nil, []uint64{4096}, []string{"bandwidth:4096:send-recv=4096", "bandwidth:4096:put=4096", "put:4096:put=4096"}},
		{"bandwidth over tcp", "bandwidth", "tcp", 2, nil, []uint64{4096}, []string{"bandwidth:4096:send-recv=4096", "bandwidth:4096:put=4096"}},
		{"elements of 8 bytes", "allreduce", "shm", 3, call(schedule.AllReduce, 0), []uint64{8, 1000, 1001},
			[]string{"allreduce:1:in-place=8", "allreduce:1:separate=8", "allreduce:125:in-place=1000", "allreduce:125:separate=1000"}},
		{"blocks", "allgather", "shm", 3, call(schedule.AllGather, 0), []uint64{8, 24, 240}, []string{"allgather:1:=24", "allgather:10:=240"}},
		{"blocks of an alltoall", "alltoall", "shm", 4, call(schedule.AllToAll, 0), []uint64{64}, []string{"alltoall:8:=64"}},
		{"nothing to move", "barrier", "shm", 4, nil, []uint64{0}, []string{"barrier:0:=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &comparison{Sides: Sides{Op: c.op, Ranks: c.ranks, Sizes: c.sizes, Transport: c.transport, Call: c.call, Bind: "none"}, cores: 2, tcp: c.transport == "tcp"}
			r := m.newRun(&peer.Peer{Name: "openmpi", Version: "1.2"}, "ring", "cubic")
			var got []string
			for i, point := range r.job.Points {
				got = append(got, fmt.Sprintf("%v=%d", point, r.rows[i].Bytes))
				if want := (report.Row{Op: point.Operation, Impl: "openmpi", Version: "1.2", Algorithm: "ring", Congestion: "cubic", Way: point.Way, Bytes: r.rows[i].Bytes}); !cmp.Equal(want, r.rows[i]) {
					t.Errorf("row %+v, want %+v", r.rows[i], want)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("points and bytes (-want +got):\n%s", d)
			}
			if len(r.out) != len(got) || len(r.rows) != len(got) {
				t.Errorf("%d points with %d rows and %d marks", len(got), len(r.rows), len(r.out))
			}
		})
	}
}

func TestSegmentsOfPeers(t *testing.T) {
	c := &comparison{Sides: Sides{
		Op: "allreduce", Ranks: 2, Sizes: []uint64{80}, Bind: "none", Peers: Peers{Segments: 4},
		Call: &collective.Spec{What: schedule.AllReduce, Algorithm: collective.Auto, Dtype: collective.Dtypes()[0]},
	}, cores: 2}
	want := []peer.Point{{Operation: "allreduce", Count: 10, Way: "in-place-x4"}, {Operation: "allreduce", Count: 10, Way: "separate-x4"}}
	if d := cmp.Diff(want, c.newRun(&peer.Peer{Name: "mpich"}, "", "").job.Points); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Goal: the peer reduces as ours does, by the same operation at the same root, bound alike.
func TestJobOfPeers(t *testing.T) {
	c := &comparison{
		Sides: Sides{Op: "reduce", Ranks: 4, Sizes: []uint64{80}, Transport: "tcp", Bind: "auto", Provider: "p",
			Call:  &collective.Spec{What: schedule.Reduce, Algorithm: collective.Auto, Dtype: collective.Dtypes()[0], Op: collectives.Max, Root: 3},
			Peers: Peers{Limit: time.Minute}},
		cores: 2, tcp: true,
	}
	c.Rules.Time, c.Rules.Verify = time.Second, true
	got := c.newRun(&peer.Peer{Name: "mpich"}, "", "reno").job
	want := peer.Job{
		Ranks: 4, Bound: false, Yield: true, TCP: true, Congestion: "reno", Provider: "p",
		DType: "float64", Op: "max", Root: 3, Most: got.Most, Time: time.Second, Verify: true, Limit: time.Minute,
		Points: []peer.Point{{Operation: "reduce", Count: 10, Way: "in-place"}, {Operation: "reduce", Count: 10, Way: "separate"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("job (-want +got):\n%s", d)
	}
	if got.Most != collective.Contributed(c.Call.Dtype.Exact, 4) {
		t.Errorf("numbers below %d are contributed", got.Most)
	}
	for _, b := range []struct {
		bind  string
		ranks int
		want  bool
	}{{"auto", 2, true}, {"auto", 3, false}, {"core", 3, true}, {"none", 1, false}} {
		if got := (&comparison{Sides: Sides{Bind: b.bind, Ranks: b.ranks}, cores: 2}).bound(); got != b.want {
			t.Errorf("%d ranks on 2 cores with --bind %s are bound: %v", b.ranks, b.bind, got)
		}
	}
}

// Goal: the figures of a peer's row are those of its blocks, each of so many operations.
func TestFill(t *testing.T) {
	timed := peer.PointResult{Operations: 10, Blocks: []time.Duration{50 * time.Microsecond, 20 * time.Microsecond, 80 * time.Microsecond}}
	for _, c := range []struct {
		op   string
		want float64 // GB/s: 1000 bytes in 5 us
	}{{"allreduce", 0.2}, {"put", 0.2}, {"latency", 0}, {"delivery", 0}} {
		got := report.Row{Op: c.op, Impl: "mpich", Bytes: 1000, Way: "put"}
		fill(&got, timed)
		want := report.Row{Op: c.op, Impl: "mpich", Bytes: 1000, Way: "put", Iters: 30, MinUS: 2, P50US: 5, P99US: 8, MeanUS: 5, GBPerS: c.want}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("row (-want +got):\n%s", d)
		}
	}
	if timed.Blocks[0] != 50*time.Microsecond {
		t.Errorf("the blocks of the result are sorted: %v", timed.Blocks)
	}
}

func TestPointOf(t *testing.T) {
	for want, r := range map[string]report.Row{
		"barrier":                      {Op: "barrier"},
		"latency of 1KiB put":          {Op: "latency", Bytes: 1024, Way: "put"},
		"allreduce of 8 in-place ring": {Op: "allreduce", Bytes: 8, Way: "in-place", Algorithm: "ring"},
	} {
		if got := pointOf(r); got != want {
			t.Errorf("%+v is called %q, want %q", r, got, want)
		}
	}
}

// Goal: the algorithms of a peer are the forced ones if it has them, all of them beside its
// own choice, or its own choice.
func TestAlgorithmsOfPeers(t *testing.T) {
	f := peertest.New(t, "")
	f.Write(t, "ompi_info", `case "$*" in *coll*) for a in 3:recursive_doubling 4:ring; do echo "mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:$a"; done;; esac`)
	p, err := peer.Open(t.Context(), "openmpi", f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, op string
		best     bool
		forced   []string
		want     []string
		refused  string
	}{
		{"its own choice", "allreduce", false, nil, []string{""}, ""},
		{"all", "allreduce", true, nil, []string{"", "recursive_doubling", "ring"}, ""},
		{"forced", "allreduce", false, []string{"ring"}, []string{"ring"}, ""},
		{"all of none", "latency", true, nil, []string{""}, ""},
		{"forced to what it has not", "allreduce", false, []string{"ring", "magic"}, nil, "--peer-algorithm openmpi:magic: expected one of recursive_doubling, ring"},
		{"forced where there is no choice", "latency", false, []string{"ring"}, nil, "--peer-algorithm openmpi:ring: openmpi has no algorithms for latency; drop the flag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &comparison{Sides: Sides{Op: c.op, Peers: Peers{Best: c.best, Algorithms: map[string][]string{"openmpi": c.forced}}}}
			got, err := m.algorithms(t.Context(), p)
			if c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) || c.refused == "" && err != nil {
				t.Errorf("error %v, want %q", err, c.refused)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("algorithms (-want +got):\n%s", d)
			}
		})
	}
}
