package testenv

import "testing"

// TestComplaints has lines as they are printed. Tests of whoever prints those that are removed give
// them to Complaints, too.
func TestComplaints(t *testing.T) {
	const slow = `gaspi-run: started 2 of 4 ranks
gaspi-bench: started 0 of 64 ranks
started 3 of 4 ranks
gaspi: waiting for rank 0 to be at h1:7117 for 10 s
gaspi: waiting for all 8 ranks to come to the fence of PMI-2 for 10 s
[12] gaspi: waiting for ranks 1, 2 and 5 (3 of 8 are missing) for 70 s
gaspi-run: waiting for host b (1 of 2 is missing) for 10 s
gaspi-run: waiting for node 0 at late:7117 (no answer yet) for 1m10s
gaspi-run: waiting for nodes 2-4 (3 of 5 are missing) for 1h0m10s
`
	const said = `gaspi-run: rank 1 (pid 7) exited with status 3 after 2.0 s; the other 2 ranks go on
gaspi-run: node 4 (h) has left before the start; waiting for node 4 (1 of 5 is missing)
gaspi-run: waiting for node 1 (1 of 2 is missing) for 10 s; no node has found the way to node 0: 240.0.0.1 is no address of this host
gaspi-run: no progress for 10.0 s: rank 1 computes
[1] rank 1 started 2 of 4 ranks
x: waiting for a lock for 10 s
[0] gaspi: rank 0 ends: the launcher is lost
`
	for text, want := range map[string]string{
		"": "", slow: "", said: said, slow + said + slow: said,
		"gaspi-run: x after 2.0 s; waiting for the other 2 ranks to end\ny; waiting for the rank to end": "gaspi-run: x after 2.0 s; ended the other 2 ranks\ny; ended the rank",
		"x; waiting for the other 2 ranks to end, by signals":                                            "x; waiting for the other 2 ranks to end, by signals",
		"gaspi-run: started 2 of": "gaspi-run: started 2 of", // the line is not whole
	} {
		if got := Complaints(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
