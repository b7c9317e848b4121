package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// Goal: in a job without a launcher whose rank 0 dies, every other rank says who is gone, once
// and without a word of a launcher, and ends by a SIGTERM that the program may catch, also where
// nobody reads its standard error any more.
func TestGASPIErrSnRankZeroProcessDies(t *testing.T) {
	ctx := testenv.Context(t)
	ranks := byHand(ctx, t, 4, "orphan")
	var stdout, stderr [4]bytes.Buffer
	for r, cmd := range ranks {
		cmd.Stdout, cmd.Stderr = &stdout[r], &stderr[r]
	}
	unread, broken, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ranks[3].Stderr = broken
	for _, cmd := range ranks {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(unread.Close(), broken.Close()); err != nil {
		t.Error(err)
	}
	const gone = "rank 0, which held the rendezvous of the job, is gone"
	for r, want := range []struct{ status, stdout, stderr string }{
		{"signal: killed", "", ""},
		{"signal: terminated", "", "gaspi: rank 1 ends: " + gone},
		{"exit status 3", "caught: gaspi: barrier world: " + gone, "gaspi: rank 2 ends: " + gone},
		{"exit status 3", "caught: gaspi: barrier world: " + gone, ""},
	} {
		err := ranks[r].Wait()
		out, said := strings.TrimSuffix(stdout[r].String(), "\n"), strings.TrimSuffix(testenv.Complaints(stderr[r].String()), "\n")
		if err == nil || err.Error() != want.status || !oneLine(out, want.stdout) || !oneLine(said, want.stderr) {
			t.Errorf("rank %d ended with %v, stdout %q, stderr %q; want %q, %q, %q", r, err, out, said, want.status, want.stdout, want.stderr)
		}
	}
}

// byHand returns the commands of the ranks of a job without a launcher, which play a role.
func byHand(ctx context.Context, t *testing.T, size int, role string) []*exec.Cmd {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, fmt.Appendf(nil, "%064x", 7), 0o600); err != nil {
		t.Fatal(err)
	}
	address := testenv.FreeAddress(t)
	ranks := make([]*exec.Cmd, size)
	for r := range ranks {
		cmd := testenv.Command(ctx, role)
		cmd.Env = append(cmd.Env, fmt.Sprintf("GASPI_RANK=%d", r), fmt.Sprintf("GASPI_SIZE=%d", size), "GASPI_RENDEZVOUS="+address, "GASPI_KEY_FILE="+key)
		ranks[r] = cmd
	}
	return ranks
}

// Goal: in a job without a launcher where a rank dies and rank 0 exits because of it, without
// Close, all that any rank says names the rank that died.
func TestGASPIDifference17RankZeroProcessExits(t *testing.T) {
	const size, dies = 6, 3
	ctx := testenv.Context(t)
	ranks := byHand(ctx, t, size, "follower")
	var stdout, stderr [size]bytes.Buffer
	for r, cmd := range ranks {
		cmd.Stdout, cmd.Stderr = &stdout[r], &stderr[r]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for r, cmd := range ranks {
		err := cmd.Wait()
		out, said := stdout[r].String(), stderr[r].String()
		switch {
		case r == dies:
		case err == nil || err.Error() != "exit status 4" || !strings.Contains(out, fmt.Sprintf("rank %d", dies)):
			t.Errorf("rank %d ended with %v and %q, want one that names rank %d", r, err, out, dies)
		case r != 0 && !strings.Contains(said, fmt.Sprintf("rank %d was lost before", dies)):
			t.Errorf("rank %d said %q, want that rank %d was lost before", r, said, dies)
		}
	}
}

// playFollower ends rank 3, then rank 0 because of it, and then the others.
func playFollower(ctx context.Context, p *gaspi.Proc, _ []string) error {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM)
	err := p.Barrier(ctx, p.World()) // fails if rank 3 has died before it ended here
	if p.Rank() == 3 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err == nil {
		err = p.Barrier(ctx, p.World())
	}
	if p.Rank() != 0 {
		<-caught
	}
	fmt.Println(err)
	os.Exit(4)
	return nil
}

// oneLine reports whether text is one line that begins with want, or empty as want is. How a
// connection to rank 0 ended may follow.
func oneLine(text, want string) bool {
	return text == want || want != "" && strings.HasPrefix(text, want+": ") && !strings.ContainsAny(text, "\n") && !strings.Contains(text, "launcher")
}

func playOrphan(ctx context.Context, p *gaspi.Proc, _ []string) error {
	caught := make(chan os.Signal, 1)
	if p.Rank() > 1 {
		signal.Notify(caught, syscall.SIGTERM)
	}
	s := must(p.CreateSegment(ctx, 0, 64))
	if p.Rank() == 0 {
		for r := range 3 {
			await(ctx, s, gaspi.NotificationID(r+1))
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	tell(p, s, 0, gaspi.NotificationID(p.Rank()))
	<-caught
	err := p.Barrier(ctx, p.World())
	fmt.Println("caught:", err)
	if errors.Is(err, gaspi.ErrLauncherLost) {
		os.Exit(3)
	}
	return err
}
