package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// key writes the key of a job to the shared folder.
func (s *site) key(t *testing.T, name, digit string) string {
	t.Helper()
	path := filepath.Join(s.Dir(), name)
	if err := os.WriteFile(path, []byte(strings.Repeat(digit, 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// byHand starts a program as one rank on each host, as scripts and Kubernetes do.
func (s *site) byHand(t *testing.T, program string, env ...string) []*job {
	t.Helper()
	var jobs []*job
	for i, h := range s.Hosts() {
		own := append([]string{fmt.Sprint("GASPI_RANK=", i), fmt.Sprint("GASPI_SIZE=", len(s.Hosts()))}, env...)
		jobs = append(jobs, start(t, h, own, program))
	}
	return jobs
}

// TestJoinByEnvironment starts ranks that know nothing but their environment.
func TestJoinByEnvironment(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, "quickstart")
	key := s.key(t, "key", "c")
	h1 := s.Hosts()[0]
	for _, c := range []struct {
		name string
		env  []string
	}{
		{"name", []string{"GASPI_RENDEZVOUS=h1:7117"}},
		{"IPv6", []string{fmt.Sprintf("GASPI_RENDEZVOUS=[%s]:7117", h1.IPv6)}},
		{"several addresses", []string{fmt.Sprintf("GASPI_RENDEZVOUS=%s:7117,[%s]:7117", h1.IPv4, h1.IPv6)}},
		{"TLS", []string{"GASPI_RENDEZVOUS=h1:7117", "GASPI_TLS=1"}},
		{"interface", []string{"GASPI_RENDEZVOUS=h1:7117", "GASPI_INTERFACE=fd88::/64"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out string
			for _, j := range s.byHand(t, s.program("quickstart"), append(c.env, "GASPI_KEY_FILE="+key)...) {
				if code := j.wait(); code != 0 || j.stderr.complaints() != "" {
					t.Errorf("exit code %d\n%v", code, j)
				}
				out += j.stdout.String()
			}
			checkRing(t, 4, false, out)
			s.clean(t)
		})
	}
}

// TestWrongKeyStaysOutside starts a rank with another key: it is refused, and the
// job of the others goes on without having noticed.
func TestWrongKeyStaysOutside(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, "quickstart")
	env := []string{"GASPI_RENDEZVOUS=h1:7117", "GASPI_SIZE=2", "GASPI_JOB=one"}
	right, wrong := "GASPI_KEY_FILE="+s.key(t, "right", "a"), "GASPI_KEY_FILE="+s.key(t, "wrong", "b")
	const patient = "GASPI_JOIN_TIMEOUT=5m" // longer than the stranger tries
	first := start(t, s.Hosts()[0], append(env, right, patient, "GASPI_RANK=0"), s.program("quickstart"))

	stranger := start(t, s.Hosts()[1], append(env, wrong, "GASPI_RANK=1"), s.program("quickstart"))
	if code := stranger.wait(); code != 1 || !strings.Contains(stranger.stderr.String(), "key") {
		t.Errorf("the stranger ends with %d, want a sentence about its key\n%v", code, stranger)
	}
	second := start(t, s.Hosts()[1], append(env, right, patient, "GASPI_RANK=1"), s.program("quickstart"))
	for _, j := range []*job{first, second} {
		if code := j.wait(); code != 0 {
			t.Errorf("exit code %d\n%v", code, j)
		}
	}
	checkRing(t, 2, false, first.stdout.String()+second.stdout.String())
	s.clean(t)
}

// TestHostIsCutOffWithoutLauncher does it to ranks that have only each other.
func TestHostIsCutOffWithoutLauncher(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4)
	h := s.Hosts()
	env := []string{
		"GASPI_RENDEZVOUS=h1:7117", "GASPI_HEARTBEAT=" + heartbeat.String(), "GASPI_KEY_FILE=" + s.key(t, "key", "d"),
		testenv.AsRole("reduce", "1"),
	}
	jobs := s.byHand(t, s.Self(t), env...)
	for _, j := range jobs {
		if _, err := j.stdout.await(t.Context(), 1, `begun$`); err != nil {
			t.Fatalf("%v\n%v", err, j)
		}
	}
	cut := time.Now()
	s.Cut(h[2])
	for i, j := range jobs {
		code := j.wait()
		if i == 2 {
			if code == 0 {
				t.Errorf("the one that was cut off ends with 0\n%v", j)
			}
			continue
		}
		met := j.stdout.find(`^met 3$`)
		if code != 0 || len(met) != 1 || len(j.stdout.find(`^lost 2$`)) != 1 {
			t.Errorf("rank %d: exit code %d, want a loss of rank 2 and a group of 3\n%v", i, code, j)
			continue
		}
		if after := met[0].at.Sub(cut); after > 2*heartbeat {
			t.Errorf("rank %d goes on %v after the cut; the limit is %v", i, after, 2*heartbeat)
		}
	}
	s.clean(t)
}
