package system

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// manyRanks is how many ranks share this machine in TestManyRanks, and
// manyDescriptors how many descriptors each may have: a few of its own and one
// connection for each rank that it writes to or hears from, about 30 in the barrier
// and 17 in the reduction.
const (
	manyRanks       = 256
	manyDescriptors = 90
)

// Hundreds of ranks that meet in sockets start, act together and end, and each is
// connected with a few others only.
func TestManyRanks(t *testing.T) {
	gate(t)
	var out output
	result, err := launcher.Run(t.Context(), launcher.Config{
		Program: "/proc/self/exe", Ranks: manyRanks, Transport: "tcp", Env: []string{testenv.AsRole("many")},
		Output: launcher.OutputRaw, Stdout: &out, Stderr: &out, Timeout: 2 * jobLimit,
	})
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("%v, exit code %d: %s\n%s", err, result.ExitCode, result.Sentence, out.String())
	}
	t.Logf("%d ranks, %v\n%s", manyRanks, result.Elapsed, out.String())
}

// playMany is a rank of many.
func playMany(ctx context.Context, p *gaspi.Proc, _ []string) error {
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	sum := []int64{int64(p.Rank())}
	if err := gaspi.AllReduce(ctx, p.World(), sum, sum, gaspi.Sum); err != nil {
		return err
	}
	if n := int64(p.Size()); sum[0] != n*(n-1)/2 {
		return fmt.Errorf("rank %d: the sum of %d ranks is %d", p.Rank(), n, sum[0])
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	if len(files) > manyDescriptors {
		return fmt.Errorf("rank %d has %d descriptors, more than %d", p.Rank(), len(files), manyDescriptors)
	}
	if p.Rank() == 0 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		fmt.Printf("rank 0 has %d descriptors\n", len(files))
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "RssAnon") {
				fmt.Print("rank 0 has ", line)
			}
		}
	}
	return p.Barrier(ctx, p.World())
}
