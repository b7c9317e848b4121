package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// seenAt is where gaspi-run says that the job can be seen.
var seenAt = regexp.MustCompile(`the job can be seen at (http://127\.0\.0\.1:\d+/)`)

// page returns the address at which a launch shows its job.
func (l *launch) page() string {
	l.t.Helper()
	var at string
	testenv.Eventually(l.t, "an address", func() bool {
		if found := seenAt.FindStringSubmatch(l.stderr.String()); found != nil {
			at = found[1]
		}
		return at != ""
	})
	return at
}

// fetch returns what is served at an address.
func fetch(t *testing.T, address string) (string, error) {
	r, err := http.NewRequestWithContext(testenv.Context(t), http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return string(text), err
}

// unzip returns what gzip has packed, whole.
func unzip(packed string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// TestHTTP looks at a job on this and another host whose ranks are stuck: what the page is
// told, the counters, and what each rank says of itself.
func TestHTTP(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startOnHosts(t, "localhost:2,b:1", "--http", ":0", "--env", testenv.AsRole("stuck"), self)
	name, at := l.job(3), l.page()
	var now struct {
		Job, Cause string
		Ranks      []struct{ Host, State, Call string }
	}
	look := func() error {
		text, err := fetch(t, at+"api/job")
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), &now)
	}
	testenv.EventuallySucceeds(t, func() error {
		if err := look(); err != nil {
			return err
		}
		if !stuck.MatchString(now.Cause) || now.Job != name || len(now.Ranks) != 3 || now.Ranks[2].Host != "b" || now.Ranks[2].State != "in collective" {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
	if text, err := fetch(t, at+"metrics"); err != nil || !strings.Contains(text, `gaspi_rank_state{rank="2",host="b",state="in collective"} 1`) {
		t.Errorf("%v in %s", err, text)
	}
	var vars struct {
		Cmdline []string
		Gaspi   struct{ Rank int }
	}
	if text, err := fetch(t, at+"rank/2/debug/vars"); err != nil || json.Unmarshal([]byte(text), &vars) != nil || vars.Gaspi.Rank != 2 || len(vars.Cmdline) == 0 {
		t.Errorf("%v, %+v of %.200s", err, vars, text)
	}
	if text, err := fetch(t, at+"rank/2/debug/pprof/goroutine?debug=2"); err != nil || !strings.Contains(text, "stick") {
		t.Errorf("%v in %.200s", err, text)
	}
	for profile, unit := range map[string]string{"heap": "inuse_space", "profile?seconds=1": "nanoseconds"} {
		text, err := fetch(t, at+"rank/2/debug/pprof/"+profile)
		if err == nil {
			text, err = unzip(text)
		}
		if err != nil || !strings.Contains(text, unit) { // its strings are as they are in the format of pprof
			t.Errorf("%s: %v in %.200q", profile, err, text)
		}
	}
	if _, err := fetch(t, at+"rank/2/debug/pprof/nothing"); err == nil || !strings.Contains(err.Error(), "there are profile, allocs") {
		t.Errorf("a profile that there is not: %v", err)
	}
	l.signal(syscall.SIGINT)
	l.wait()
}

// TestHTTPRefused gives addresses at which nothing can be served: one sentence, and no rank is started.
func TestHTTPRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	for _, c := range []struct {
		address, want string
		code          int
	}{
		{address, "gaspi-run: --http " + address + ": bind: address already in use: name another port, or 0 for any that is free\n", 1},
		{"203.0.113.1:0", "gaspi-run: --http 203.0.113.1:0: bind: cannot assign requested address: name another port, or 0 for any that is free\n", 1},
	} {
		l := start(t, "-n", "1", "--http", c.address, "echo", "started")
		if code := l.wait(); code != c.code || l.complaints() != c.want {
			t.Errorf("exit code %d, stderr %q; want %d, %q", code, l.stderr, c.code, c.want)
		}
		if line, more := <-l.lines; more {
			t.Errorf("it has printed %q", line)
		}
	}
}
