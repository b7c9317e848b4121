package launcher

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestEndsAreToldInTheirOrder kills all ranks but one, in any order, each when the end of the
// one before was seen. The last one hears of them in that order, also where they are of another
// host.
func TestEndsAreToldInTheirOrder(t *testing.T) {
	t.Parallel()
	needOrderOfEnds(t)
	rounds, seed := 30, rand.Uint64()
	if testing.Short() {
		rounds = 5
	}
	for name, cfg := range map[string]Config{
		"one host":  role("mourns", 6),
		"two hosts": onHosts(t, role("mourns", 0), "a:1,b:5"),
	} {
		t.Run(name, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 0))
			for range rounds {
				if killed := killRanks(t, cfg, draw.Perm(5)); t.Failed() {
					t.Fatalf("seed %d: %v", seed, killed)
				}
			}
		})
	}
}

// needOrderOfEnds skips the test where the system refuses descriptors of processes: process.Hold
// takes a directory of /proc instead, and threads wait for ranks (process.ExitWatch).
func needOrderOfEnds(t *testing.T) {
	t.Helper()
	fd, err := process.Hold(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	held := os.NewFile(uintptr(fd), "process")
	defer held.Close()
	if info, err := held.Stat(); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		testenv.Lack(t, "the system refuses descriptors of processes, without which ranks that end soon after each other come in any order")
	}
}

// killRanks runs a job of six ranks of role mourns, and kills those from 1 on in an order.
func killRanks(t *testing.T, cfg Config, order []int) (killed []string) {
	t.Helper()
	begun := regexp.MustCompile(`(?m)^\[(\d)\] pid (\d+)$`)
	out := &capture{}
	out.seen = func(all string) {
		pids := begun.FindAllStringSubmatch(all, -1)
		if len(pids) < 6 || killed != nil {
			return
		}
		for _, i := range order {
			at := slices.IndexFunc(pids, func(m []string) bool { return number(t, m[1]) == i+1 })
			killed = append(killed, "gone "+pids[at][1])
			killAndSee(t, number(t, pids[at][2]))
		}
	}
	cfg.Stdout, cfg.OnFailure = out, Continue
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 137 {
		t.Fatalf("%v, %+v", err, o)
	}
	got := linesOf(out.String(), 0)[1:]
	if !slices.Equal(got, killed) {
		t.Errorf("rank 0 heard of %s; killed were %s", strings.Join(got, ", "), strings.Join(killed, ", "))
	}
	return killed
}

// killAndSee kills a process and returns when its end can be seen.
func killAndSee(t *testing.T, pid int) {
	t.Helper()
	hold, err := process.Hold(pid)
	if err != nil {
		t.Error(err)
		return
	}
	defer sys.CloseFile(hold)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	for !process.AwaitEnd(hold, 0) {
	}
}
