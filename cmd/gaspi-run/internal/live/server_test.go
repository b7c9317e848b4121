package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// A play is a Job of which everything is said in advance.
type play struct{ view launcher.JobView }

func (p play) Job() string            { return "0123456789" }
func (p play) Ranks() int             { return len(p.view.Ranks) }
func (p play) Look() launcher.JobView { return p.view }
func (p play) Ask(_ context.Context, r launcher.Rank, what string) ([]byte, error) {
	if what == "nothing" {
		return nil, errors.New("there is nothing")
	}
	return fmt.Appendf(nil, "rank %d %s", r, what), nil
}

// served serves a job, and returns the server once the job was looked at.
func served(t *testing.T, job Observed) *Service {
	t.Helper()
	l, err := Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l)
	t.Cleanup(s.Close)
	if job != nil {
		s.Show(job)
		testenv.Eventually(t, "a look", s.history.seen)
	}
	return s
}

// get returns an answer of a server, asked by a name of its host.
func get(t *testing.T, s *Service, host, path string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(testenv.Context(t), http.MethodGet, s.Address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ address, listens, wrong string }{
		{":8080", "127.0.0.1:8080", ""},
		{"localhost:0", "127.0.0.1:0", ""},
		{"0.0.0.0:80", "0.0.0.0:80", ""},
		{"[::1]:80", "[::1]:80", ""},
		{"", "", "expected HOST:PORT"},
		{"8080", "", "expected HOST:PORT"},
		{"localhost:http", "", "expected 0 to 65535"},
		{"localhost:65536", "", "expected 0 to 65535"},
		{"example.org:80", "", "expected localhost or an address of this host"},
	} {
		got, err := resolve(c.address)
		if got != c.listens || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %q, %v", c.address, got, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(l.Addr().String()); err == nil || !strings.Contains(err.Error(), "name another port") {
		t.Errorf("a port that is taken: %v", err)
	}
}

// TestServer asks for everything that is served, and for what is refused.
func TestServer(t *testing.T) {
	s := served(t, play{aJob()})
	if !s.Alone() {
		t.Error("others can connect")
	}
	for _, c := range []struct {
		host, path, kind, begins string
		code                     int
	}{
		{"", "", "text/html; charset=utf-8", "<!doctype html>", 200},
		{"localhost", "", "text/html; charset=utf-8", "<!doctype html>", 200},
		{"[::1]:99", "", "text/html; charset=utf-8", "<!doctype html>", 200},
		{"evil.example", "", "", "this server is for its own host", 403},
		{"evil.example:80", "api/job", "", "this server is for its own host", 403},
		{"", "metrics", "text/plain; version=0.0.4; charset=utf-8", "# HELP gaspi_rank_state", 200},
		{"", "rank/2/debug/vars", "application/json", "rank 2 vars", 200},
		{"", "debug/vars?rank=1", "application/json", "rank 1 vars", 200},
		{"", "rank/2/debug/pprof/heap", "application/octet-stream", "rank 2 heap", 200},
		{"", "rank/2/debug/pprof/goroutine?debug=2", "text/plain; charset=utf-8", "rank 2 goroutine?debug=2", 200},
		{"", "debug/pprof/profile?rank=0&seconds=5", "application/octet-stream", "rank 0 profile?seconds=5", 200},
		{"", "rank/2/debug/pprof/nothing", "", "there is nothing", 502},
		{"", "rank/3/debug/vars", "", `rank "3": expected 0 to 2`, 404},
		{"", "rank/-1/debug/vars", "", `rank "-1": expected 0 to 2`, 404},
		{"", "debug/pprof/heap", "", `rank "": expected 0 to 2`, 404},
		{"", "no/such", "", "404", 404},
	} {
		code, header, text := get(t, s, c.host, c.path)
		if code != c.code || !strings.HasPrefix(text, c.begins) || c.kind != "" && header.Get("Content-Type") != c.kind {
			t.Errorf("%s %q: %d, %s, %.80q; want %d, %s, %q", c.host, c.path, code, header.Get("Content-Type"), text, c.code, c.kind, c.begins)
		}
	}
	_, _, text := get(t, s, "", "metrics?peers=1")
	if samples, err := checkMetrics(text); err != nil || len(samples) < 50 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	answer, err := http.Post(s.Address()+"api/job", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST: %d", answer.StatusCode)
	}
}

func TestServerBeforeTheJob(t *testing.T) {
	s := served(t, nil)
	for _, path := range []string{"api/job", "metrics", "rank/0/debug/vars"} {
		if code, _, text := get(t, s, "", path); code != 503 || text != "the ranks are being started\n" {
			t.Errorf("%s: %d, %q", path, code, text)
		}
	}
	if code, _, _ := get(t, s, "", ""); code != 200 {
		t.Errorf("the page: %d", code)
	}
}

// TestPageLoadsNothing looks for what the page would ask another server for.
func TestPageLoadsNothing(t *testing.T) {
	for _, word := range []string{"http:", "https:", "src=", "@import", "url(", "innerHTML"} {
		if strings.Contains(string(page), word) {
			t.Errorf("the page has %q", word)
		}
	}
}

// TestData compares all that the page is told of two looks, one second apart.
func TestData(t *testing.T) {
	first, second := aJob(), aJob()
	second.At = second.At.Add(2 * time.Second)
	second.Ranks[0].Stats.Waited += 500 * time.Millisecond
	second.Ranks[0].Stats.BytesWritten += 3000
	var h history
	h.add(first)
	h.add(second)
	h.add(launcher.JobView{}) // the job is over
	want := pageData{
		Job: "j", At: 1002_000, Longest: 90, Stalled: true, Cause: "rank 0 computes", Details: "RANK\n0",
		Ranks: []pageRow{
			{Host: `a "quoted" \ host`, State: "computing", Since: 1, Wait: 0.25, Rate: 1500, Bytes: 1<<40 + 3000, Clock: 412},
			{Host: "b", State: "waiting", Call: "Proc.Barrier of world", Place: "x/main.go:3", From: "rank 0", Since: 90, Wait: 1},
			{Host: "b", State: "not joined"},
		},
		Pairs: pairs{Side: 3, Per: 1, Bytes: []uint64{0, 1000, 0, 0, 0, 0, 50, 0, 0}},
		Collectives: []launcher.CollectiveStats{
			{Operation: "barrier", Algorithm: "tree", Calls: 1, Time: 5 * time.Second},
			{Operation: "allreduce", Algorithm: "ring x4", Calls: 14, Bytes: 112, Time: 3 * time.Second},
		},
		Period: 1, Past: []string{"02", "09", "nn"}, Traffic: []float64{0, 1500},
	}
	got := h.state("j")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again pageData
	if err := json.Unmarshal(text, &again); err != nil || !cmp.Equal(want, again) {
		t.Errorf("%v in %s", err, text)
	}
}

// TestHistoryIsBounded has more looks than are kept.
func TestHistoryIsBounded(t *testing.T) {
	var h history
	for range kept + 10 {
		h.add(aJob())
	}
	if s := h.state(""); len(s.Past[0]) != kept || len(s.Traffic) != kept {
		t.Errorf("%d and %d looks are kept, want %d", len(s.Past[0]), len(s.Traffic), kept)
	}
}

// TestPairsOfManyRanks puts neighbours into one cell.
func TestPairsOfManyRanks(t *testing.T) {
	const n = 130
	ranks := make([]launcher.RankActivity, n)
	for r := range ranks {
		ranks[r].Rank = launcher.Rank(r)
		ranks[r].Stats.Peers = []launcher.PeerStats{{Peer: launcher.Rank((r + 1) % n), BytesWritten: 10}}
	}
	p := pairsOf(ranks)
	if p.Per != 3 || p.Side != 44 || len(p.Bytes) != 44*44 || p.Bytes[0] != 20 || p.Bytes[1] != 10 || p.Bytes[43*44] != 10 || p.Bytes[43*44+43] != 0 {
		t.Errorf("%d ranks to a cell, %d cells a side; the first are %v", p.Per, p.Side, p.Bytes[:4])
	}
}
