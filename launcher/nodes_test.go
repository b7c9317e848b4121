package launcher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// nodeRun is what one node of a job in this process has come to.
type nodeRun struct {
	result         Result
	err            error
	stdout, notice capture
}

// nodesHere returns count nodes that are all this process.
func nodesHere(t *testing.T, count int) []Node {
	t.Helper()
	at := testenv.FreeAddress(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []Node
	for n := range count {
		all = append(all, Node{Count: count, Number: n, Rendezvous: at, KeyFile: key})
	}
	return all
}

// runNodesHere runs a job on nodes that are all this process. lines hears of each line that
// a rank of the last node prints.
func runNodesHere(t *testing.T, ctx []context.Context, script string, lines func()) []*nodeRun {
	t.Helper()
	var all []*nodeRun
	var running sync.WaitGroup
	for n, node := range nodesHere(t, len(ctx)) {
		r := &nodeRun{}
		all = append(all, r)
		cfg := shell(n+1, script)
		cfg.Node = node
		cfg.Interface, cfg.Stdout, cfg.Stderr = "127.0.0.1", &r.stdout, &r.stdout
		if n == len(ctx)-1 {
			r.stdout.seen = func(string) { lines() }
		}
		cfg.Notice = func(s string) { r.notice.Write([]byte(s + "\n")) }
		running.Go(func() { r.result, r.err = Run(ctx[n], cfg) })
	}
	running.Wait()
	return all
}

func TestNodesInOneProcess(t *testing.T) {
	ctx := t.Context()
	all := runNodesHere(t, []context.Context{ctx, ctx, ctx}, `echo $GASPI_LOCAL_RANK; test $GASPI_RANK = 4 && exit 9; exit 0`, func() {})
	for n, r := range all {
		if r.err != nil || r.result.ExitCode != 9 || r.result.Sentence != all[0].result.Sentence || !strings.HasPrefix(r.result.Sentence, "rank 4 (pid ") {
			t.Errorf("node %d: %+v, %v", n, r.result, r.err)
		}
	}
}

func TestContextOfANodeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := runNodesHere(t, []context.Context{t.Context(), ctx}, `echo ready; exec sleep 1000`, cancel)
	if r := all[1]; !errors.Is(r.err, context.Canceled) {
		t.Errorf("node 1: %+v, %v; want its context's error", r.result, r.err)
	}
	if r := all[0]; r.err != nil || r.result.ExitCode != 1 || !strings.HasPrefix(r.result.Sentence, "stopped: context canceled at node 1 (") {
		t.Errorf("node 0: %+v, %v", r.result, r.err)
	}
}

// TestDecline has node 0 tell two nodes, of which one may come before it listens.
func TestDecline(t *testing.T) {
	nodes := nodesHere(t, 3)
	var running sync.WaitGroup
	for _, node := range nodes[1:] {
		cfg := shell(1, "exit 0")
		cfg.Node = node
		cfg.Node.JoinTimeout = -1
		running.Go(func() {
			if _, err := Run(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "node 0 (") || !strings.HasSuffix(err.Error(), "): its disk is gone") {
				t.Errorf("node %d: %v; want the reason of node 0", node.Number, err)
			}
		})
	}
	cfg := shell(1, "exit 0")
	cfg.Node = nodes[0]
	Decline(t.Context(), cfg, errors.New("its disk is gone"))
	running.Wait()

	ended, end := context.WithCancel(t.Context())
	end()
	cfg.Node.JoinTimeout = -1
	Decline(ended, cfg, errors.New("nobody comes"))
	cfg.Node = Node{}
	Decline(t.Context(), cfg, errors.New("there are no other nodes"))
}
