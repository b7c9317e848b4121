package boot

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestVariablesAreRemoved compares variables that make a process a rank with those that
// package testenv removes from the environment of tests.
func TestVariablesAreRemoved(t *testing.T) {
	for _, name := range []string{EnvRank, EnvRendezvous, EnvJoinTimeout} {
		if !testenv.Removes(name) {
			t.Errorf("testenv.Main leaves %s in the environment of tests", name)
		}
	}
}

// TestWay decides for environments of starters, alone and inside of each other, how a
// process joins.
func TestWay(t *testing.T) {
	const (
		launched = "GASPI_BOOT_FD=5 GASPI_RANK=0"
		torchrun = "RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=29500"
		openMPI  = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 PMIX_NAMESPACE=7"
		hydra    = "PMI_FD=6 PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2"
		slurm    = "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 SLURM_JOB_ID=7 SLURM_STEP_ID=0"
		slurmPMI = slurm + " PMI_FD=6 PMI_JOBID=7.0 PMI_RANK=0 PMI_SIZE=2"
	)
	for env, want := range map[string]string{
		"":                         "alone",
		launched:                   "launcher",
		launched + " " + torchrun:  "launcher",
		launched + " WORLD_SIZE=4": "launcher",
		launched + " " + hydra:     "launcher",
		"GASPI_RANK=0":             "network",
		"GASPI_SIZE=2 " + torchrun: "network",
		"GASPI_KEY=k":              "network",
		"GASPI_KEY=k " + torchrun:  "torchrun",
		torchrun + " " + slurmPMI:  "torchrun",
		torchrun + " " + openMPI:   "torchrun",
		"WORLD_SIZE=4 " + openMPI:  "Open MPI's mpirun",
		openMPI + " " + slurm:      "Open MPI's mpirun",
		"PMI_PORT=h:1 PMI_ID=0":    "pmi1",
		hydra:                      "pmi1",
		hydra + " " + slurm:        "pmi1",
		"PMI_FD=6 PMI_RANK=0 PMI_SIZE=4 FLUX_JOB_SIZE=4 FLUX_TASK_RANK=0 FLUX_JOB_ID=f": "pmi1",
		"PMI_FD=6 PMI_RANK=0 PMI_SIZE=4 " + slurm:                                       "pmi1", // Hydra in a step of its own
		slurm:    "slurm",
		slurmPMI: "slurm",
		"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=8 PMI_RANK=0 PMI_SIZE=1 PMIX_RANK=0": "alone", // a shell in a step
		"FLUX_JOB_SIZE=4 FLUX_TASK_RANK=0 FLUX_JOB_ID=f":                                         "Flux",
		"PMI_RANK=0 PMI_SIZE=4 PALS_APID=a PALS_RANKID=0":                                        "PALS",
		"MV2_COMM_WORLD_RANK=0 MV2_COMM_WORLD_SIZE=2":                                            "MVAPICH's mpirun_rsh",
		"JSM_NAMESPACE_RANK=0 JSM_NAMESPACE_SIZE=2":                                              "jsrun",
		"RANK=1 WORLD_SIZE=4 MASTER_ADDR=h MASTER_PORT=29500":                                    "torch.distributed",
		"RANK=1 WORLD_SIZE=4 MASTER_ADDR=h MASTER_PORT=29500 " + openMPI:                         "Open MPI's mpirun",
		"WORLD_SIZE=1": "alone", "WORLD_SIZE=": "alone", "RANK=": "alone", "RANK=0 WORLD_SIZE=1": "alone", "LOCAL_RANK=0 LOCAL_WORLD_SIZE=1": "alone", "OMPI_COMM_WORLD_SIZE=1": "alone", "SLURM_NTASKS=8": "alone",
		"PMI_SIZE=1 PMIX_RANK=0": "alone", "PMI_SIZE=1 WORLD_SIZE=2": "refused",
		"WORLD_SIZE=4": "refused", "RANK=0 WORLD_SIZE=4": "refused", "WORLD_SIZE=many": "refused", "PMI_SIZE=2": "refused",
		"PMI_RANK=0 PMI_SIZE=2": "refused", "PMI_PORT=h:1": "alone", "OMPI_COMM_WORLD_SIZE=2": "refused",
		"PMIX_RANK=0": "refused", "PMIX_RANK=1 PMIX_NAMESPACE=7": "refused", "MV2_COMM_WORLD_SIZE=2": "refused", "PALS_RANKID=0": "refused",
		"FLUX_JOB_SIZE=2": "refused", "JSM_NAMESPACE_SIZE=2": "refused", "ALPS_APP_PE=1": "refused", "MPI_LOCALNRANKS=2": "refused", "SLURM_STEP_NUM_TASKS=2": "refused",
		"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=7 SLURM_LOCALID=0 SLURM_NODEID=0": "alone", // a batch script
		"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMI_RANK=0 PMI_LOCAL_SIZE=4":           "alone", // a shell in a step of another PMI
		"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 RANK=1":                                "refused",
		"JOB_COMPLETION_INDEX=2": "alone",
	} {
		if got := wayOf(env); got != want {
			t.Errorf("%s: %s, want %s", env, got, want)
		}
	}
}

// TestNestedStarters puts each starter inside of each other one, with one process or two.
func TestNestedStarters(t *testing.T) {
	starters := []struct{ way, env string }{ // with %d for the size, in the order in which they count
		{"torchrun", "RANK=0 WORLD_SIZE=%d LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=h MASTER_PORT=29500"},
		{"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=%d PMIX_RANK=0"},
		{"pmi1", "PMI_FD=6 PMI_RANK=0 PMI_SIZE=%d MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1"},
		{"slurm", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=%d SLURM_JOB_ID=7 SLURM_STEP_ID=0"},
		{"Flux", "FLUX_JOB_SIZE=%d FLUX_TASK_RANK=0 FLUX_JOB_ID=f"},
		{"MVAPICH's mpirun_rsh", "MV2_COMM_WORLD_RANK=0 MV2_COMM_WORLD_SIZE=%d"},
		{"jsrun", "JSM_NAMESPACE_RANK=0 JSM_NAMESPACE_SIZE=%d"},
	}
	for i, first := range starters {
		for _, second := range starters[i+1:] {
			for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}} {
				want := first.way
				if size[0] == 1 && size[1] == 2 {
					want = second.way
				}
				if first.way == "pmi1" && second.way == "slurm" {
					want = "pmi1" // Hydra runs in a step, and no step in a process of Hydra
				}
				if first.way == "slurm" && size == [2]int{1, 1} {
					want = second.way // a step of one task is a shell
				}
				env := fmt.Sprintf(first.env+" "+second.env, size[0], size[1])
				if got := wayOf(env); got != want {
					t.Errorf("%s: %s, want %s", env, got, want)
				}
			}
		}
	}
}

// TestNumberIsAnnounced gives a process a number and not of how many.
func TestNumberIsAnnounced(t *testing.T) {
	const want = "RANK=2 says that this process is one of several, and WORLD_SIZE, which says of how many, is not set: start the program with gaspi-run, or set GASPI_RANK, GASPI_SIZE, GASPI_RENDEZVOUS and GASPI_KEY_FILE, or unset RANK to run it alone"
	if err := newEnvironment(lookupIn(map[string]string{"RANK": "2"})).announced(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// wayOf names how a process with an environment joins.
func wayOf(env string) string {
	set := map[string]string{}
	for _, kv := range strings.Fields(env) {
		k, v, _ := strings.Cut(kv, "=")
		set[k] = v
	}
	v := newEnvironment(lookupIn(set))
	begin := v.way()
	if begin == nil {
		if err := v.announced(); err != nil {
			return "refused"
		}
		return "alone"
	}
	names := map[string]string{"fromLauncher": "launcher", "fromNetwork": "network", "fromPMI1": "pmi1", "fromSlurm": "slurm"}
	name := runtime.FuncForPC(reflect.ValueOf(begin).Pointer()).Name()
	if short, ok := names[name[strings.LastIndex(name, ".")+1:]]; ok {
		return short
	}
	return starters.Of(&v.Reader).Name
}

// runRanks starts size processes at once that have nothing in common but what env says for
// each number, and returns what each printed, but for what only says that something takes long, and how
// many failed.
func runRanks(t *testing.T, size int, env func(rank int) []string) (said []string, failed int) {
	t.Helper()
	return runRanksUntil(t, size, env, func(string) bool { return false })
}

// runRanksUntil is runRanks, and kills the others once what one has printed is enough.
func runRanksUntil(t *testing.T, size int, env func(rank int) []string, enough func(said string) bool) (said []string, failed int) {
	t.Helper()
	ctx, kill := context.WithCancel(testenv.Context(t))
	defer kill()
	said = make([]string, size)
	var mu sync.Mutex
	var all sync.WaitGroup
	for r := range size {
		all.Go(func() {
			cmd := testenv.Command(ctx, "task")
			cmd.Env = append(cmd.Env, env(r)...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			mu.Lock()
			defer mu.Unlock()
			said[r] = strings.TrimSpace(testenv.Complaints(out.String()))
			if err != nil {
				failed++
			}
			if enough(said[r]) {
				kill()
			}
		})
	}
	all.Wait()
	return said, failed
}

// wantJob checks that the ranks made one job. where is what each is to say about its place.
func wantJob(t *testing.T, said []string, failed int, where []string) {
	t.Helper()
	host, _ := os.Hostname()
	for r, line := range said {
		begin, end := fmt.Sprintf("rank %d of %d, %s", r, len(said), where[r]), fmt.Sprintf("next on %s, 0 leaks, <nil>", host)
		if !strings.HasPrefix(line, begin) || !strings.HasSuffix(line, end) {
			t.Errorf("rank %d said %q; want %q ... %q", r, line, begin, end)
		}
	}
	if failed > 0 {
		t.Errorf("%d ranks failed", failed)
	}
}

// keyFile returns a file with a new key.
func keyFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(auth.NewKey().Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// openMPIEnv is what mpirun says to rank r of size on hosts of local ranks each.
func openMPIEnv(space string, r, size, local int) []string {
	return []string{
		fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d", r), fmt.Sprintf("OMPI_COMM_WORLD_SIZE=%d", size),
		fmt.Sprintf("OMPI_COMM_WORLD_LOCAL_RANK=%d", r%local), fmt.Sprintf("OMPI_COMM_WORLD_LOCAL_SIZE=%d", local),
		"PMIX_NAMESPACE=" + space, fmt.Sprintf("PMIX_RANK=%d", r),
	}
}

func TestOpenMPI(t *testing.T) {
	space := NewJobID()
	said, failed := runRanks(t, 4, func(r int) []string { return openMPIEnv(space, r, 4, 4) })
	wantJob(t, said, failed, []string{"0 of 4", "1 of 4", "2 of 4", "3 of 4"})
	more := []string{EnvRendezvous + "=" + testenv.FreeAddress(t), EnvKeyFile + "=" + keyFile(t)}
	said, failed = runRanks(t, 4, func(r int) []string { return append(openMPIEnv(space, r, 4, 2), more...) })
	wantJob(t, said, failed, []string{"0 of 2", "1 of 2", "0 of 2", "1 of 2"})
}

// TestTwoStartsDoNotMeet starts two jobs on one host at the same time.
func TestTwoStartsDoNotMeet(t *testing.T) {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			space := NewJobID()
			said, failed := runRanks(t, 2, func(r int) []string { return openMPIEnv(space, r, 2, 2) })
			wantJob(t, said, failed, []string{"0 of 2", "1 of 2"})
		})
	}
	both.Wait()
}

// TestStartersThatCannotMeet checks that a process ends with one sentence.
func TestStartersThatCannotMeet(t *testing.T) {
	key := auth.NewKey().Text()
	last := torchrunEnv("127.0.0.1:65535", 1, 2, 1)
	for _, c := range []struct {
		name string
		env  []string
		want string
	}{
		{"torchrun without a key", torchrunEnv("127.0.0.1:1", 1, 2, 1), "this is rank 1 of 2 of torchrun, which does not say that all ranks are on one host, so they need GASPI_KEY_FILE (or GASPI_KEY)"},
		{"no next port", append(last, EnvKey+"="+key), `MASTER_PORT="65535": expected a port below 65535`},
		{"no host", append(torchrunEnv(":7", 1, 2, 1), EnvKey+"="+key), `MASTER_ADDR="": expected the host of rank 0`},
		{"bad key", append(torchrunEnv("127.0.0.1:1", 1, 2, 1), EnvKey+"=secret"), "GASPI_KEY: a job key is 64 hexadecimal digits"},
		{"two keys", append(torchrunEnv("127.0.0.1:1", 1, 2, 1), EnvKey+"="+key, EnvKeyFile+"=x"), "GASPI_KEY_FILE and GASPI_KEY are both set"},
		{"rank too large", torchrunEnv("127.0.0.1:1", 2, 2, 1), `RANK="2": expected a number from 0 to 1`},
		{"mpirun on two hosts", openMPIEnv("7", 1, 2, 1), "this is rank 1 of 2 of Open MPI's mpirun, which does not say that all ranks are on one host, so they need GASPI_RENDEZVOUS and GASPI_KEY_FILE (or GASPI_KEY)"},
		{"mpirun on two hosts with a key", append(openMPIEnv("7", 1, 2, 1), EnvKey+"="+key), "so they need GASPI_RENDEZVOUS to find"},
		{"Flux without PMI", []string{"FLUX_JOB_SIZE=2", "FLUX_TASK_RANK=0", "FLUX_JOB_ID=f"}, "rank 0 of 2 of Flux"},
		{"world size alone", []string{"WORLD_SIZE=2"}, "WORLD_SIZE=2 says that this process is one of several"},
		{"PMI_FD that is none", []string{"PMI_FD=99", "PMI_RANK=0", "PMI_SIZE=2"}, "PMI_FD=99 is not a connection to a process manager"},
		{"PMI_PORT that is none", []string{"PMI_PORT=127.0.0.1:0", "PMI_ID=0"}, `PMI_PORT="127.0.0.1:0" is not where a process manager can be reached`},
		{"rank and size alone", []string{EnvRank + "=0", EnvSize + "=2"}, "GASPI_RENDEZVOUS and GASPI_KEY_FILE (or GASPI_KEY) are not set although GASPI_RANK and GASPI_SIZE are"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, failed := runRanks(t, 1, func(int) []string { return c.env })
			if failed != 1 || !strings.Contains(said[0], c.want) || strings.Contains(said[0], "\n") || strings.Contains(said[0], key) || strings.Contains(said[0], "secret") {
				t.Errorf("%d failed: %q; want one line with %q", failed, said[0], c.want)
			}
		})
	}
}

func TestJobOverPMI1(t *testing.T) {
	file := keyFile(t)
	for _, c := range []struct {
		name, mapping string
		more          []string
		where         []string
	}{
		{"one host", "(vector,(0,1,3))", nil, []string{"0 of 3 on host 0", "1 of 3 on host 0", "2 of 3 on host 0"}},
		{"two hosts", "(vector,(0,2,1))", nil, []string{"0 of 2 on host 0", "0 of 1 on host 1", "1 of 2 on host 0"}},
		{"hosts unknown", "", nil, []string{"0 of 1 on host rank-0", "0 of 1 on host rank-1", "0 of 1 on host rank-2"}},
		{"hosts garbled", "(vector,(0,0,0))", nil, []string{"0 of 1 on host rank-0", "0 of 1 on host rank-1", "0 of 1 on host rank-2"}},
		{"own key", "(vector,(0,1,3))", []string{EnvKeyFile + "=" + file}, []string{"0 of 3", "1 of 3", "2 of 3"}},
		{"own rendezvous", "(vector,(0,3,1))", []string{EnvRendezvous + "=" + testenv.FreeAddress(t)}, []string{"0 of 1", "0 of 1", "0 of 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := startManager(t, 3, c.mapping)
			said, failed := runRanks(t, 3, func(r int) []string {
				return append([]string{"PMI_PORT=" + m.listener.Addr().String(), fmt.Sprintf("PMI_ID=%d", r)}, c.more...)
			})
			wantJob(t, said, failed, c.where)
			if m.closed != 3 {
				t.Errorf("%d processes have ended their talk well, want 3", m.closed)
			}
			if key := m.values[storeKey]; (key == storeKeyGiven) != (c.name == "own key") {
				t.Errorf("the key in the store is %q", key)
			}
		})
	}
}

// TestPortsOfTheRendezvous has rank 0 listen where the user allows it and nothing else does.
func TestPortsOfTheRendezvous(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	low := taken.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		name, ports string
		want        string // of the error; empty for a job
	}{
		{"a range", fmt.Sprintf("%d-%d", low, low+20), ""},
		{"none is free", fmt.Sprint(low), "opening the rendezvous of the job: all ports from"},
		{"no range", "9-8", `GASPI_PORTS="9-8": expected a range of ports LOW-HIGH`},
	} {
		t.Run(c.name, func(t *testing.T) {
			size := 2
			if c.want != "" {
				size = 1 // the other would wait for it at the barrier of the manager
			}
			m := startManager(t, 2, "(vector,(0,1,2))")
			said, failed := runRanks(t, size, func(r int) []string {
				return []string{"PMI_PORT=" + m.listener.Addr().String(), fmt.Sprintf("PMI_ID=%d", r), EnvPorts + "=" + c.ports}
			})
			if c.want != "" {
				if failed != 1 || !strings.Contains(said[0], c.want) {
					t.Errorf("%d failed: %q; want an error with %q", failed, said[0], c.want)
				}
				return
			}
			wantJob(t, said, failed, []string{"0 of 2 on host 0", "1 of 2 on host 0"})
			_, port, err := net.SplitHostPort(m.values[storeRendezvous])
			if n, _ := strconv.Atoi(port); err != nil || n <= low || n > low+20 {
				t.Errorf("rank 0 listens at %q, %v; want a port from %d to %d", m.values[storeRendezvous], err, low+1, low+20)
			}
		})
	}
}

// TestOnlyProcess is a job of one rank, which asks its manager first.
func TestOnlyProcess(t *testing.T) {
	m := startManager(t, 1, "")
	for _, env := range [][]string{
		{"PMI_PORT=" + m.listener.Addr().String(), "PMI_ID=0"},
		{"PMI_FD=99", "PMI_RANK=0", "PMI_SIZE=1"},
		openMPIEnv("7", 0, 1, 1),
		torchrunEnv("h:1", 0, 1, 1),
	} {
		said, _ := runRanks(t, 1, func(int) []string { return env })
		if d := cmp.Diff([]string{alone}, said); d != "" {
			t.Errorf("%v (-want +got):\n%s", env, d)
		}
	}
	if m.closed != 1 {
		t.Errorf("%d talks have ended well, want 1", m.closed)
	}
}

// TestKeyForSomeRanksOnly gives a key to one rank of two.
func TestKeyForSomeRanksOnly(t *testing.T) {
	t.Parallel()
	for owner, want := range []string{"rank 0 has a key from GASPI_KEY_FILE or GASPI_KEY, and this rank has none", "this rank has a key from GASPI_KEY_FILE or GASPI_KEY, and rank 0 has none"} {
		m := startManager(t, 2, "")
		key := auth.NewKey().Text()
		said, failed := runRanks(t, 2, func(r int) []string {
			env := []string{"PMI_PORT=" + m.listener.Addr().String(), fmt.Sprintf("PMI_ID=%d", r), EnvJoinTimeout + []string{"=1s", "=1m"}[r]}
			if r == owner {
				env = append(env, EnvKey+"="+key)
			}
			return env
		})
		if failed < 1 || !strings.Contains(said[1], want) {
			t.Errorf("%d failed: %q; want that rank 1 does with %q", failed, said, want)
		}
	}
}

// TestRankThatNeverComes starts all ranks but one, in each way, and wants the others to
// end, and the first of them to name it where that is known. One that is late itself, on a
// loaded machine, is named too, and ends at the limit all the same.
func TestRankThatNeverComes(t *testing.T) {
	t.Parallel()
	file := keyFile(t)
	const gone = `rank [12] is gone: it has not joined: waiting for (rank 2 \(1 of 3 is|ranks 1 to 2 \(2 of 3 are) missing\) ended after 1s, the limit of GASPI_JOIN_TIMEOUT`
	for _, c := range []struct {
		name  string
		env   func(t *testing.T) func(r int) []string
		ranks []int // that are started
		want  string
	}{
		{"by hand", func(t *testing.T) func(int) []string {
			address := testenv.FreeAddress(t)
			return func(r int) []string {
				return []string{fmt.Sprintf("%s=%d", EnvRank, r), EnvSize + "=3", EnvRendezvous + "=" + address, EnvKeyFile + "=" + file}
			}
		}, []int{0, 1}, gone},
		{"by hand, rank 0", func(t *testing.T) func(int) []string {
			address := testenv.FreeAddress(t)
			return func(r int) []string {
				return []string{fmt.Sprintf("%s=%d", EnvRank, r), EnvSize + "=3", EnvRendezvous + "=" + address, EnvKeyFile + "=" + file}
			}
		}, []int{1, 2}, `no rendezvous at 127.0.0.1:\d+ after 1s, the limit of GASPI_JOIN_TIMEOUT .*: is rank 0 running, and can this host reach it\?`},
		{"torchrun", func(t *testing.T) func(int) []string {
			address := testenv.FreeAddress(t)
			return func(r int) []string { return torchrunEnv(address, r, 3, 3) }
		}, []int{0, 1}, gone},
		{"mpirun, rank 0", func(*testing.T) func(int) []string {
			space := NewJobID()
			return func(r int) []string { return openMPIEnv(space, r, 3, 3) }
		}, []int{1, 2}, "rank 0 has not come within 1s, the limit of GASPI_JOIN_TIMEOUT"},
		{"PMI-1", func(t *testing.T) func(int) []string {
			m := startManager(t, 3, "")
			return func(r int) []string {
				return []string{"PMI_PORT=" + m.listener.Addr().String(), fmt.Sprintf("PMI_ID=%d", r)}
			}
		}, []int{0, 1}, "the fence of PMI-1, to which all 3 ranks must come: no answer within 1s, the limit of GASPI_JOIN_TIMEOUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it is a wait
			env := c.env(t)
			said, failed := runRanks(t, 2, func(i int) []string { return append(env(c.ranks[i]), EnvJoinTimeout+"=1s") })
			for i, r := range c.ranks {
				want := []string{c.want, "the limit of GASPI_JOIN_TIMEOUT"}[i]
				if !regexp.MustCompile("(?s)"+want).MatchString(said[i]) || strings.Contains(said[i], "the launcher") {
					t.Errorf("rank %d said %q, want %q", r, said[i], want)
				}
			}
			if failed < 2 && !slices.Contains(c.ranks, 0) {
				t.Errorf("%d ranks failed, want 2", failed)
			}
		})
	}
}
