package launcher_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A configuration that makes no sense is found before anything is started.
func ExampleConfig() {
	cfg := launcher.Config{Program: "sh", Ranks: -1}
	fmt.Println(cfg.Check() != nil)
	cfg.Ranks = 4
	fmt.Println(cfg.Check())
	// Output:
	// true
	// <nil>
}

// Hosts and how many ranks fit on each, as a user lists them.
func ExampleHost() {
	hosts, err := launcher.ParseHosts("a:2,b,[fe80::1]:4")
	if err != nil {
		fmt.Println(err)
	}
	for _, h := range hosts {
		fmt.Println(h.Name, h.Slots)
	}
	// Output:
	// a 2
	// b 1
	// fe80::1 4
}

// How ranks are started on other hosts: by ssh at another port, where the program is copied to.
func ExampleRemote() {
	cfg := launcher.Config{
		Program: "./simulation",
		Hosts:   []launcher.Host{{Name: "a", Slots: 8}, {Name: "b", Slots: 8}},
		Remote:  launcher.Remote{SSH: []string{"ssh", "-p", "2222"}, Stage: true, Patience: time.Minute},
	}
	fmt.Println(cfg.Check())
	// Output:
	// <nil>
}

// The second of two nodes, each of which is started by somebody else. It starts its own ranks.
func ExampleNode() {
	cfg := launcher.Config{
		Program: "./simulation",
		Ranks:   8,
		Node:    launcher.Node{Count: 2, Number: 1, Rendezvous: "node0:7000", KeyFile: "/run/secrets/job.key"},
	}
	fmt.Println(cfg.Check())
	// Output:
	// <nil>
}

// The map of a job says how many ranks it would have, and starts none.
func ExampleJobMap() {
	job, err := launcher.MapJob(launcher.Config{Program: "sh", Ranks: 3})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(job.Ranks, "ranks; the program is built first:", job.Package)
	// Output:
	// 3 ranks; the program is built first: false
}

// Ranks are numbered host by host.
func ExamplePlacement() {
	job, err := launcher.MapJob(launcher.Config{
		Program: "sh",
		Hosts:   []launcher.Host{{Name: "a", Slots: 2}, {Name: "b", Slots: 3}},
		Remote:  launcher.Remote{SSH: []string{"sh"}}, // any command that is there
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, place := range job.Places {
		fmt.Printf("%s has %d ranks from rank %d on\n", place.Host, place.Ranks, place.First)
	}
	// Output:
	// a has 2 ranks from rank 0 on
	// b has 3 ranks from rank 2 on
}

// Each rank has a core to itself, as far as there are enough.
func ExampleBind() {
	_, err := launcher.Run(context.Background(), launcher.Config{
		Program: "nproc", // prints how many cores it may use
		Ranks:   1,
		Bind:    launcher.BindCore,
		Stdout:  os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [0] 1
}

// Ranks write to the output themselves, and no line has the number of its rank before it.
func ExampleOutput() {
	_, err := launcher.Run(context.Background(), launcher.Config{
		Program: "echo",
		Args:    []string{"as it is"},
		Ranks:   1,
		Output:  launcher.OutputRaw,
		Stdout:  os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// as it is
}

// A rank fails, and the other goes on to its end.
func ExampleOnFailure() {
	result, err := launcher.Run(context.Background(), launcher.Config{
		Program:   "sh",
		Args:      []string{"-c", "test $GASPI_RANK = 1 || exit 3; echo to the end"},
		Ranks:     2,
		OnFailure: launcher.Continue,
		Stdout:    os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("rank", result.First.Rank, "failed; the exit status is", result.ExitCode)
	// Output:
	// [1] to the end
	// rank 0 failed; the exit status is 3
}

// A job tells how each of its ranks ended.
func ExampleRankExit() {
	result, err := launcher.Run(context.Background(), launcher.Config{
		Program:   "sh",
		Args:      []string{"-c", "test $GASPI_RANK = 0 || kill -9 $$"},
		Ranks:     2,
		OnFailure: launcher.Continue,
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, end := range result.Ranks {
		fmt.Println("rank", end.Rank, "failed:", end.Failed(), "exit status:", end.Code())
	}
	// Output:
	// rank 0 failed: false exit status: 0
	// rank 1 failed: true exit status: 137
}

// The exit status of a program that passes on why Run failed.
func ExampleBuildError() {
	status := func(err error) int {
		if build, ok := errors.AsType[*launcher.BuildError](err); ok {
			return build.ExitCode // the go command has said why
		}
		fmt.Println(err)
		return 1
	}
	fmt.Println(status(fmt.Errorf("cannot run: %w", &launcher.BuildError{Package: "./simulation", ExitCode: 2})))
	// Output:
	// 2
}

// Counts of ranks are there once they have joined a job by package gaspi.
func ExampleRankStats() {
	result, err := launcher.Run(context.Background(), launcher.Config{Program: "true", Ranks: 2})
	fmt.Println(len(result.Ranks), "ranks, counts of", len(result.Stats), err)
	for _, s := range result.Stats {
		fmt.Println("rank", s.Rank, "was busy for", s.Busy(), "and issued", s.Writes, "writes")
	}
	// Output:
	// 2 ranks, counts of 0 <nil>
}

// A program that runs a job sees what its ranks do, and ends it then.
func ExampleObserver() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := launcher.Run(ctx, launcher.Config{
		Program: "sleep",
		Args:    []string{"1000"},
		Ranks:   2,
		Observe: func(job *launcher.Observer) {
			go func() {
				for _, rank := range job.Look().Ranks {
					fmt.Println("rank", rank.Rank, "has", rank.State)
				}
				cancel()
			}()
		},
	})
	fmt.Println(err)
	// Output:
	// rank 0 has not joined
	// rank 1 has not joined
	// context canceled
}

// Which rank is on the critical path for the longest, of a job that was run with Config.Trace.
func ExampleTraceResult() {
	trace := launcher.TraceResult{
		Length: 4 * time.Second,
		Path: []launcher.PathShare{
			{Rank: 2, Call: "(outside of calls)", Time: 3 * time.Second},
			{Rank: 0, Call: "Proc.Barrier", Time: time.Second},
		},
	}
	first := trace.Path[0]
	fmt.Printf("rank %d: %.0f %% in %s\n", first.Rank, 100*first.Time.Seconds()/trace.Length.Seconds(), first.Call)
	// Output:
	// rank 2: 75 % in (outside of calls)
}

// How long a rank held up all others by combining vectors.
func ExamplePathShare() {
	s := launcher.PathShare{Rank: 1, Call: "combine in allreduce (sum of 1024 float64) by ring", Time: 20 * time.Millisecond}
	fmt.Println(s.Rank, s.Time)
	// Output:
	// 1 20ms
}
