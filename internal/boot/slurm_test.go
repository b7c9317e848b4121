package boot

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

func TestSlurmInfo(t *testing.T) {
	good := map[string]string{
		"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_TASKS_PER_NODE": "4,2,1(x2)", "SLURM_NODEID": "1", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "17", "SLURM_STEP_ID": "0",
	}
	for _, c := range []struct{ name, variable, value, want string }{
		{name: "good"},
		{"rank too large", "SLURM_PROCID", "8", `SLURM_PROCID="8": expected a number from 0 to 7`},
		{"no size", "SLURM_STEP_NUM_TASKS", "", "SLURM_STEP_NUM_TASKS"},
		{"node too large", "SLURM_NODEID", "4", "SLURM_STEP_TASKS_PER_NODE"},
		{"no tasks per node", "SLURM_STEP_TASKS_PER_NODE", "many", `SLURM_STEP_TASKS_PER_NODE="many": expected how many tasks`},
		{"local rank too large", "SLURM_LOCALID", "2", `SLURM_LOCALID="2": expected a number from 0 to 1`},
		{"odd job", "SLURM_JOB_ID", "1_2", "SLURM_JOB_ID and SLURM_STEP_ID"},
	} {
		env := maps.Clone(good)
		if c.variable != "" {
			env[c.variable] = c.value
		}
		v := newEnvironment(lookupIn(env))
		got := v.slurmInfo()
		if c.want == "" {
			want := Info{Rank: 5, Size: 8, LocalRank: 1, LocalSize: 2, Job: "slurm-17-0", Host: "1"}
			if v.Err != nil || got != want {
				t.Errorf("%s: %+v, %v; want %+v", c.name, got, v.Err, want)
			}
		} else if v.Err == nil || !strings.Contains(v.Err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, v.Err, c.want)
		}
	}
}

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func TestSlurmWithoutAWayToMeet(t *testing.T) {
	for k, v := range map[string]string{"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_TASKS_PER_NODE": "1(x2)", "SLURM_NODEID": "1", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "17", "SLURM_STEP_ID": "0"} {
		t.Setenv(k, v)
	}
	_, err := FromEnvironment(t.Context(), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "srun --mpi=pmi2") || !strings.Contains(err.Error(), "task 1 of 2") {
		t.Errorf("%v", err)
	}
	t.Setenv("SLURM_STEP_NUM_TASKS", "1")
	if s, err := FromEnvironment(t.Context(), nil, nil); s != nil || err != nil {
		t.Errorf("alone in a step: %v, %v; want a process that nobody started as a rank", s, err)
	}
}

func TestAgreedPort(t *testing.T) {
	k := auth.NewKey()
	ports := map[int]bool{}
	for step := range 100 {
		port := agreedPort(k, fmt.Sprint("slurm-17-", step), address.Ports{})
		if port < 20000 || port >= 32000 {
			t.Fatalf("port %d", port)
		}
		ports[port] = true
	}
	same, err := auth.ParseKey(k.Text())
	if err != nil {
		t.Fatal(err)
	}
	if agreedPort(k, "slurm-17-0", address.Ports{}) != agreedPort(same, "slurm-17-0", address.Ports{}) || len(ports) < 50 {
		t.Errorf("100 steps have %d ports, or one step has two", len(ports))
	}
	chosen := map[int]bool{}
	for step := range 100 {
		chosen[agreedPort(k, fmt.Sprint("slurm-17-", step), address.Ports{Low: 65534, High: 65535})] = true
	}
	if !chosen[65534] || !chosen[65535] || len(chosen) != 2 {
		t.Errorf("100 steps with the ports 65534 and 65535 meet at %v", chosen)
	}
}

// task is what each task of the steps below does: it says who it is and what its
// neighbour put.
func task(s Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	i := s.Info()
	next := (i.Rank + 1) % base.Rank(i.Size)
	name, _ := os.Hostname()
	err := s.Put("host", []byte(name))
	var there []byte
	if err == nil {
		there, err = s.Get(ctx, next, "host")
	}
	if err == nil {
		err = s.Fence(ctx, "end", i.Job)
	}
	leaks := 0
	for _, kv := range os.Environ() {
		if strings.Contains(kv, s.Credentials().Text()) {
			leaks++
		}
	}
	fmt.Printf("rank %d of %d, %d of %d on host %s, reaches %v, next on %s, %d leaks, %v\n",
		i.Rank, i.Size, i.LocalRank, i.LocalSize, i.Host, i.Rendezvous, there, leaks, err)
	if err := s.Close(); err != nil || s.Lost() != nil {
		return fmt.Errorf("closed with %v; the launcher is lost: %v", err, s.Lost())
	}
	return nil
}

func TestStepsOfSlurm(t *testing.T) {
	c := cluster.New(t, 4)
	c.StartSlurm()
	self := c.Self(t)
	keyFile := c.Dir() + "/key-of-a-step"
	if err := os.WriteFile(keyFile, []byte(auth.NewKey().Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	h1 := c.Hosts()[0]
	want := func(at string) string {
		var lines []string
		local := []string{"0 of 4", "1 of 4", "2 of 4", "3 of 4", "0 of 2", "1 of 2", "0 of 1", "0 of 1"}
		host := []int{0, 0, 0, 0, 1, 1, 2, 3}
		for r := range 8 {
			lines = append(lines, fmt.Sprintf("rank %d of 8, %s on host %d, reaches %s, next on h%d, 0 leaks, <nil>", r, local[r], host[r], at, host[(r+1)%8]+1))
		}
		return strings.Join(lines, "\n")
	}
	for _, s := range []struct {
		name, mpi, at string
		env           []string
	}{
		{"pmi2", "pmi2", fmt.Sprint(h1.IPv4), nil},
		{"pmi2 with TLS over the other IP", "pmi2", fmt.Sprint(h1.IPv6), []string{EnvTLS + "=1", EnvInterface + "=fd88::/16"}},
		{"first host", "none", fmt.Sprint(h1.IPv4), []string{EnvKeyFile + "=" + keyFile}},
	} {
		t.Run(s.name, func(t *testing.T) {
			cmd := c.Head().Command(testenv.Context(t), "srun", "--quiet", "-N4", "-n8", "--mpi="+s.mpi, self)
			cmd.Env = append(append(cmd.Env, testenv.AsRole("task")), s.env...)
			got := linesOf(t, cmd)
			if s.mpi == "none" { // the name of the host means both of its addresses: whichever answers first
				for i := range got {
					got[i] = strings.Replace(got[i], fmt.Sprint(h1.IPv6), s.at, 1)
				}
			}
			if d := cmp.Diff(strings.Split(want(s.at), "\n"), got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("no way to meet", func(t *testing.T) {
		cmd := c.Head().Command(testenv.Context(t), "srun", "--quiet", "-n2", "--mpi=none", self)
		cmd.Env = append(cmd.Env, testenv.AsRole("task"))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "srun --mpi=pmi2") {
			t.Errorf("%v: %s", err, out)
		}
	})
	if err := c.Clean(testenv.Context(t)); err != nil {
		t.Error(err)
	}
}

// linesOf runs a command and returns what it printed, in order.
func linesOf(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	lines := strings.Split(strings.TrimSpace(testenv.Complaints(string(out))), "\n")
	slices.Sort(lines)
	return lines
}
