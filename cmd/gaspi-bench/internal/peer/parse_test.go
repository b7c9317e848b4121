package peer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       line
	}{
		{"nothing", "", line{}},
		{"a launcher's own", "[node:123] mca: base: something", line{}},
		{"start", "start 3", line{kind: lineStart, point: 3}},
		{"done", "done", line{kind: lineDone}},
		{"times", "times 2 64 300 250", line{kind: lineTimes, point: 2, operations: 64, blocks: []time.Duration{300, 250}}},
		{"used", "used 2 4000", line{kind: lineUsed, point: 2, processors: 4000}},
		{"one block of no time", "times 0 1 0", line{kind: lineTimes, operations: 1, blocks: []time.Duration{0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseLine(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(line{})); d != "" {
				t.Errorf("line (-want +got):\n%s", d)
			}
		})
	}
}

func TestParseLineRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"start without a point", "start", `the line "start" ends too early`},
		{"start of no number", "start first", `"first" in a line of the benchmark is no number`},
		{"times of no point", "times", "ends too early"},
		{"no times", "times 0 8", `the line "times 0 8" has no times`},
		{"no operations", "times 0 0 5", "has no times"},
		{"a time that is none", "times 0 8 5 nan", `"nan" in a line of the benchmark is no number`},
		{"used of no point", "used", "ends too early"},
		{"used without a time", "used 3", `the line "used 3" ends too early`},
		{"negative time", "times 0 8 -5", `"-5" in a line of the benchmark is no number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := parseLine(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, error %v, want one with %q", got, err, c.want)
			}
		})
	}
}

func TestOpenMPIChoices(t *testing.T) {
	const text = `mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:0:ignore
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:type:int
mca:coll:tuned:param:coll_tuned_reduce_algorithm:enumerator:value:6:in-order_binary
`
	want := map[string]launch{"ring": {args: []string{
		"--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_allreduce_algorithm", "4",
	}}}
	if d := cmp.Diff(want, openMPIChoices(text, "allreduce"), cmp.AllowUnexported(launch{})); d != "" {
		t.Errorf("allreduce (-want +got):\n%s", d)
	}
	if got := openMPIChoices(text, "reduce"); len(got) != 1 || got["in-order_binary"].args[4] != "coll_tuned_reduce_algorithm" {
		t.Errorf("reduce: %v", got)
	}
}

// The reason for a failure is what the benchmark says, not the noise around it.
func TestReason(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"its own words", "-----\nmpibench: rank 1: wrong\nMPI_ABORT was invoked\n-----\n", "rank 1: wrong"},
		{"the last lines", "a\n=====\nb\n\nc\nd\ne\n", "b | c | d | e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reason(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
