package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPeerTables(t *testing.T) {
	rows := sampleTally().Sorted()
	got := strings.Join(append(PeerLines(rows), ComparisonLines("allreduce", Compare(rows))...), "\n")
	want := `op              bytes  impl             how                                   min us      p50 us      p99 us     mean us     +-95%  cpu s/GB rounds
allreduce           8  gaspi                                                  0.0500      0.2000      2.0000      0.4667    0.7589                3
allreduce           8  limit                                                  0.0500      0.1000      1.0000      0.2667    0.2868                3
allreduce           8  openmpi 4.1.4    in-place                              0.2000      0.6000      6.0000      1.2000    0.9937                3
allreduce           8  openmpi 4.1.4    separate                              0.2500      0.7000      7.0000      1.4000    0.9937                3
allreduce           8  mpich 4.0.2      in-place                              1.0000      2.0000       20.00      4.6667    2.8684                3
allreduce        1MiB  gaspi                                                   15.00       30.00      300.00       60.00    0.0000      0.07      3
allreduce        1MiB  openmpi 4.1.4    in-place                               30.00       60.00      600.00      140.00     86.05                3
allreduce        1MiB  mpich 4.0.2      in-place                          over limit (20s)
allreduce: p50 in microseconds, and the better peer's time by ours (above 1, ours is faster)
  bytes       gaspi     openmpi       mpich    ratio       of rounds       limit of limit  better peer
      8      0.2000      0.6000      2.0000     3.00    2.00 to 4.00      0.1000     2.00  openmpi, in-place
   1MiB       30.00       60.00  over limit     2.00    2.00 to 3.00           -        -  openmpi, in-place
geometric mean of ratios: openmpi 2.45, mpich 10.00 (1 of 2 sizes), better 2.45`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tables (-want +got):\n%s", d)
	}
}

// Goal: without a figure of any peer there is no ratio, and no mean.
func TestNothingToCompareWith(t *testing.T) {
	var all Tally
	addRounds(&all, Row{Op: "barrier", Impl: ImplGaspi}, 1)
	all.Add(0, Row{Op: "barrier", Impl: "mpich", Note: "failed (exit status 9: x)"})
	got := strings.Join(ComparisonLines("barrier", Compare(all.Sorted())), "\n")
	want := `barrier: p50 in microseconds, and the better peer's time by ours (above 1, ours is faster)
  bytes       gaspi       mpich    ratio       of rounds       limit of limit  better peer
      -      1.0000      failed        -               -           -        -`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("table (-want +got):\n%s", d)
	}
}

// Goal: a size that a run did not get to has empty columns, and the others keep theirs.
func TestNotCompared(t *testing.T) {
	all := sampleTally()
	addRounds(all, Row{Op: "allreduce", Impl: ImplGaspi, Bytes: 2 << 20}, 70)
	got := ComparisonLines("allreduce", Compare(all.Sorted()))
	want := []string{
		"  bytes       gaspi     openmpi       mpich    ratio       of rounds       limit of limit  better peer",
		"   1MiB       30.00       60.00  over limit     2.00    2.00 to 3.00           -        -  openmpi, in-place",
		"   2MiB       70.00           -           -        -               -           -        -",
	}
	if d := cmp.Diff(want, []string{got[1], got[3], got[4]}); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}
