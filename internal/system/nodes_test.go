package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

// onNodes starts gaspi-run on the first hosts, with so many ranks on each.
func (s *site) onNodes(t *testing.T, rendezvous string, ranks []int, args ...string) []*job {
	t.Helper()
	key := s.key(t, "key", "c")
	var jobs []*job
	for n, count := range ranks {
		flags := []string{"--nnodes", fmt.Sprint(len(ranks)), "--node-rank", fmt.Sprint(n), "--rendezvous", rendezvous, "--key-file", key, "-n", fmt.Sprint(count)}
		jobs = append(jobs, start(t, s.Hosts()[n], nil, s.program("gaspi-run"), append(flags, args...)...))
	}
	return jobs
}

// checkNodes waits for all nodes of a job of quickstart.
func checkNodes(t *testing.T, jobs []*job, ranks []int) {
	t.Helper()
	out, all := "", 0
	for n, j := range jobs {
		if code := j.wait(); code != 0 {
			t.Errorf("node %d: exit code %d\n%v", n, code, j)
		}
		own := j.stdout.String()
		if lines := strings.Count(own, "\n"); lines != ranks[n] {
			t.Errorf("node %d shows %d lines, want those of its %d ranks\n%v", n, lines, ranks[n], j)
		}
		out, all = out+own, all+ranks[n]
	}
	checkRing(t, all, true, out)
}

// TestNodes starts a job on each of its nodes, without ssh.
func TestNodes(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3, "quickstart")
	h1 := s.Hosts()[0]
	for _, c := range []struct {
		name       string
		rendezvous string
		ranks      []int
		flags      []string
	}{
		{"name", "h1:7117", []int{2, 2, 2}, nil},
		{"different numbers of ranks", "h1:7117", []int{1, 4, 2}, nil},
		{"IPv6", fmt.Sprintf("[%s]:7117", h1.IPv6), []int{2, 1}, nil},
		{"TLS", "h1:7117", []int{1, 2}, []string{"--tls"}},
		{"interface and ports", fmt.Sprintf("%s:7117", h1.IPv4), []int{3, 3}, []string{"--interface", "eth0", "--ports", "7200-7209"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkNodes(t, s.onNodes(t, c.rendezvous, c.ranks, append(c.flags, s.program("quickstart"))...), c.ranks)
			s.clean(t)
		})
	}
	t.Run("a name that comes late", func(t *testing.T) {
		ranks := []int{1, 1}
		jobs := s.onNodes(t, "late:7117", ranks, "--join-timeout", "0", s.program("quickstart"))
		if _, err := jobs[1].stderr.await(t.Context(), 1, `waiting for node 0 at late:7117`); err != nil {
			t.Fatalf("%v\n%v", err, jobs[1])
		}
		if said := jobs[1].stderr.complaints(); said != "" {
			t.Errorf("tests take %q for a complaint", said)
		}
		f, err := os.OpenFile(filepath.Join(s.Dir(), "hosts"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "%s late\n", h1.IPv4)
		f.Close()
		checkNodes(t, jobs, ranks)
		s.clean(t)
	})
}

// TestNodeIsLost cuts a node off, or kills its gaspi-run: all end, and say why.
func TestNodeIsLost(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	h := s.Hosts()
	silent := "no sign of life for " + strings.Replace(heartbeat.String(), "s", " s", 1)
	for _, c := range []struct {
		name string
		lose func(jobs []*job)
		says [3]string // the end of each node's sentence; empty: it is killed
	}{
		{"node 2 is cut off", func([]*job) { s.Cut(h[2]) },
			[3]string{`node 2 \(h3\) is lost: ` + silent, `node 2 \(h3\) is lost: ` + silent, "node 0 is lost: " + silent}},
		{"node 0 is cut off", func([]*job) { s.Cut(h[0]) },
			[3]string{`node [12] \(h[23]\) is lost: ` + silent, "node 0 is lost: " + silent, "node 0 is lost: " + silent}},
		{"node 1 is killed", func(jobs []*job) { cluster.Signal(jobs[1].cmd, syscall.SIGKILL) },
			[3]string{`node 1 \(h2\) is lost: the connection to its gaspi-run has ended`, "", `node 1 \(h2\) is lost: the connection to its gaspi-run has ended`}},
		{"node 0 is killed", func(jobs []*job) { cluster.Signal(jobs[0].cmd, syscall.SIGKILL) },
			[3]string{"", "node 0 is lost: the connection to its gaspi-run has ended", "node 0 is lost: the connection to its gaspi-run has ended"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				for _, host := range h {
					s.Heal(host)
				}
			}()
			jobs := s.onNodes(t, "h1:7117", []int{2, 1, 2}, "--heartbeat", heartbeat.String(), "--kill-grace", "1s", "sh", "-c", "echo ready; exec sleep 1000")
			for n, ranks := range []int{2, 1, 2} {
				if _, err := jobs[n].stdout.await(t.Context(), ranks, `ready$`); err != nil {
					t.Fatalf("%v\n%v", err, jobs[n])
				}
			}
			c.lose(jobs)
			for n, j := range jobs {
				code := j.wait()
				if c.says[n] != "" && (code != 1 || j.stderr.sentences(`^gaspi-run: `+c.says[n]) != 1 || j.stderr.sentences(`^gaspi-run: `) != 1) {
					t.Errorf("node %d: exit code %d, want 1 and one sentence, %q\n%v", n, code, c.says[n], j)
				}
			}
			s.clean(t)
		})
	}
}
