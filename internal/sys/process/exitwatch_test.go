//go:build linux && !portable

package process

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// watchExits returns a watch of children.
func watchExits(t *testing.T, pids ...int) *ExitWatch {
	t.Helper()
	w, err := WatchExits()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	for _, pid := range pids {
		if err := w.Add(pid); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// ends returns the next n ends of a watch.
func ends(t *testing.T, w *ExitWatch, n int) (all []Ended) {
	t.Helper()
	for len(all) < n {
		some, err := w.Wait()
		if err != nil || len(some) == 0 {
			t.Fatalf("%v, %v; want an end", some, err)
		}
		for _, e := range some {
			if e.Err != nil {
				t.Fatal(e.Err)
			}
		}
		all = append(all, some...)
	}
	return all
}

// awaitExit waits for the end of a child, which it leaves to be reaped.
func awaitExit(t *testing.T, pid int) Exit {
	t.Helper()
	return ends(t, watchExits(t, pid), 1)[0].Exit
}

func TestExitWatchSaysHowAndLeavesTheZombie(t *testing.T) {
	cases := []struct {
		name, script string
		want         Exit
		add          func(*ExitWatch, int) error
	}{
		{"status 0", "exit 0", Exit{}, (*ExitWatch).Add},
		{"status 3", "exit 3", Exit{Status: 3}, (*ExitWatch).Add},
		{"signal", "kill -KILL $$", Exit{Signal: unix.SIGKILL}, (*ExitWatch).Add},
		{"after a while", "read x; exit 7", Exit{Status: 7}, (*ExitWatch).Add},
		{"status 3, without pidfds", "exit 3", Exit{Status: 3}, (*ExitWatch).addThread},
		{"signal, without pidfds", "kill -KILL $$", Exit{Signal: unix.SIGKILL}, (*ExitWatch).addThread},
		{"after a while, without pidfds", "read x; exit 7", Exit{Status: 7}, (*ExitWatch).addThread},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := cmd.Process.Pid
			w := watchExits(t)
			if err := c.add(w, pid); err != nil {
				t.Fatal(err)
			}
			go stdin.Close()
			if got := ends(t, w, 1)[0]; got.PID != pid || got.Exit != c.want {
				t.Errorf("%+v; want %+v of process %d", got, c.want, pid)
			}
			if !slices.Contains(Children(), pid) {
				t.Error("the child is no longer listed; want it to be left for its owner to reap")
			}
			if cmd.Wait(); cmd.ProcessState == nil {
				t.Error("its owner could not wait for it any more")
			}
		})
	}
}

// TestExitWatchKeepsTheOrderOfEnds kills children one after the other, in any order, each
// when the end of the one before was seen, and looks at the watch afterwards.
func TestExitWatchKeepsTheOrderOfEnds(t *testing.T) {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if sys.CallRefused(err) {
		testenv.Lack(t, "the system refuses descriptors of processes, without which children that end soon after each other come in any order")
	}
	unix.Close(fd)
	const children = 4
	rounds, seed := 200, rand.Uint64()
	if testing.Short() {
		rounds = 30
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	w := watchExits(t)
	for round := range rounds {
		t.Run("", func(t *testing.T) {
			var pids []int
			for range children {
				pids = append(pids, startIdle(t))
			}
			for _, pid := range pids {
				if err := w.Add(pid); err != nil {
					t.Fatal(err)
				}
			}
			draw.Shuffle(children, func(i, j int) { pids[i], pids[j] = pids[j], pids[i] })
			for _, pid := range pids {
				killAndSee(t, pid)
			}
			var got []int
			for _, e := range ends(t, w, children) {
				got = append(got, e.PID)
			}
			if !slices.Equal(got, pids) {
				t.Fatalf("seed %d, round %d: ends of %v, want %v", seed, round, got, pids)
			}
		})
	}
}

// startIdle starts a child that lives until it is killed or the test has ended.
func startIdle(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// killAndSee kills a child and returns when its end can be seen.
func killAndSee(t *testing.T, pid int) {
	t.Helper()
	hold, err := Hold(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.CloseFile(hold)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for !AwaitEnd(hold, 0) {
	}
}

func TestExitWatchOfNoChild(t *testing.T) {
	w := watchExits(t)
	for _, add := range []func(int) error{w.Add, w.addThread} {
		if err := add(os.Getppid()); err == nil {
			t.Error("the parent can be watched")
		}
	}
}

// TestExitWatchClose: Close ends a Wait that is under way, and later ones fail.
func TestExitWatchClose(t *testing.T) {
	w := watchExits(t, startIdle(t))
	begun, ended := make(chan struct{}), make(chan error)
	go func() {
		close(begun)
		_, err := w.Wait()
		ended <- err
	}()
	<-begun
	w.Close()
	if err := <-ended; err == nil {
		t.Error("Wait returned no error")
	}
	if _, err := w.Wait(); err == nil {
		t.Error("Wait after Close returned no error")
	}
}
