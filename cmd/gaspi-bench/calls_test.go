package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// TestFirstCalls wants rows of first and second calls of each operation, with the processor time of a rank.
func TestFirstCalls(t *testing.T) {
	for _, transport := range []string{"loopback", "shm"} {
		t.Run(transport, func(t *testing.T) {
			rows := rowsOf(t, "first-call", "-n", "3", "--transport", transport, "--sizes", "8,1000")
			var names []string
			for _, r := range rows {
				names = append(names, r.Op)
				if r.N != 3 || r.Transport != transport || r.Iters == 0 || r.P50US <= 0 || r.Bytes != 8 && r.Bytes != 1000 {
					t.Errorf("%+v", r)
				}
			}
			one := "first-allreduce again-allreduce first-alltoall again-alltoall first-broadcast again-broadcast"
			if got, want := strings.Join(names, " "), one+" "+one; got != want {
				t.Errorf("rows %s, want %s", got, want)
			}
		})
	}
}

// TestStartup wants the rows of the start of a job, a time of each, in order.
func TestStartup(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		file := filepath.Join(t.TempDir(), "rows.json")
		if stdout, stderr, code := gaspiBench(t, "startup", "-n", "3", "--transport", transport, "--json", file); code != 0 || stderr != "" {
			t.Fatalf("%s: exit code %d\n%s%s", transport, code, stdout, stderr)
		}
		rows, err := report.ReadRows(file)
		if err != nil || len(rows) != 3 || rows[0].Op != "init" || rows[1].Op != "first-barrier" || rows[2].Op != "started" {
			t.Fatalf("%s: rows %+v, %v", transport, rows, err)
		}
		if sum := rows[0].P50US + rows[1].P50US - rows[2].P50US; sum < -1 || sum > 1 {
			t.Errorf("%s: %+v", transport, rows)
		}
		for _, r := range rows {
			if r.N != 3 || r.Transport != transport || r.Iters != 1 || r.P50US <= 0 {
				t.Errorf("%s: %+v", transport, r)
			}
		}
	}
}

// TestOverlap wants the rows of an overlap, and the line about them, also over links that are emulated.
func TestOverlap(t *testing.T) {
	for _, c := range [][]string{
		{"--transport", "shm"}, {"--transport", "tcp", "-n", "3"}, {"--emulate", "latency=20us,bandwidth=200MB/s"},
	} {
		rows := rowsOf(t, append([]string{"overlap", "--sizes", "4096"}, c...)...)
		var names []string
		for _, r := range rows {
			names = append(names, r.Op)
			if r.Bytes != 4096 || r.P50US <= 0 || (r.Emulated != "") != (c[0] == "--emulate") {
				t.Errorf("%v: %+v", c, r)
			}
		}
		const want = "overlap-alone overlap-wait overlap-compute overlap-both"
		if got := strings.Join(names, " "); got != want || !strings.Contains(rows[0].Remark, "Wait takes ") {
			t.Errorf("%v: rows %s, want %s; remark %q", c, got, want, rows[0].Remark)
		}
	}
}

// TestSeveral wants rows of the call for all vectors, of a fold before a call, and of the limit.
func TestSeveral(t *testing.T) {
	for _, c := range []string{"--transport=shm", "--transport=tcp -n 3", "--transport=loopback -n 1"} {
		rows := rowsOf(t, append([]string{"several", "--sizes", "6000"}, strings.Fields(c)...)...)
		var names []string
		for _, r := range rows {
			names = append(names, r.Op+":"+r.Impl)
			if r.Bytes != 6000 || r.P50US <= 0 || r.Iters == 0 {
				t.Errorf("%s: %+v", c, r)
			}
		}
		const want = "allreduce-3:gaspi allreduce-3:fold allreduce-3:limit reducescatter-3:gaspi reducescatter-3:fold reducescatter-3:limit"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: rows %s, want %s", c, got, want)
		}
	}
}
