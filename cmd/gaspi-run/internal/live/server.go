package live

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// Observed is a job that is served; a *launcher.Observer is one, which has the same calls.
type Observed interface {
	// Job returns its name.
	Job() string
	// Ranks returns how many it has.
	Ranks() int
	// Look returns what they do. It blocks for seconds at most.
	Look() launcher.JobView
	// Ask blocks until a rank has answered a question, or ctx ends.
	Ask(ctx context.Context, r launcher.Rank, what string) ([]byte, error)
}

// CheckAddress returns what is wrong with an address to listen at, in a sentence, or nil.
func CheckAddress(address string) error {
	_, err := resolve(address)
	return err
}

// resolve returns where to listen: without a host, on loopback alone.
func resolve(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", errors.New("expected HOST:PORT, or :PORT for this host alone, such as localhost:8080")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("port %q: expected 0 to 65535, where 0 is any that is free", port)
	} else if host == "" || host == "localhost" {
		return fmt.Sprintf("127.0.0.1:%d", n), nil
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return "", fmt.Errorf("host %q: expected localhost or an address of this host, such as 0.0.0.0 for all", host)
	}
	return address, nil
}

// Listen listens at an address that CheckAddress has found good.
func Listen(address string) (net.Listener, error) {
	at, err := resolve(address)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fmt.Errorf("%w: name another port, or 0 for any that is free", err)
	}
	return l, nil
}

// A Service serves one job. Close ends it.
type Service struct {
	http     *http.Server
	listener net.Listener
	alone    bool // nobody from another host can connect
	job      atomic.Pointer[Observed]
	history  history
	over     chan struct{}
	work     sync.WaitGroup
}

// Limits of a request.
const (
	headerMost = 10 * time.Second // to send its header
	askMost    = 30 * time.Second // for a rank to answer, beside the time that it was told to take
)

// Serve serves on l, which it takes, until Close.
func Serve(l net.Listener) *Service {
	s := &Service{listener: l, over: make(chan struct{})}
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		s.alone = at.IP.IsLoopback()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /api/job", s.data)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /rank/{rank}/debug/vars", s.variables)
	mux.HandleFunc("GET /rank/{rank}/debug/pprof/{profile}", s.profile)
	mux.HandleFunc("GET /debug/vars", s.variables)
	mux.HandleFunc("GET /debug/pprof/{profile}", s.profile)
	s.http = &http.Server{Handler: s.guard(mux), ReadHeaderTimeout: headerMost}
	s.work.Go(func() { _ = s.http.Serve(l) }) // until Close
	return s
}

// Address is where the page is.
func (s *Service) Address() string { return "http://" + s.listener.Addr().String() + "/" }

// Alone reports whether nobody from another host can connect.
func (s *Service) Alone() bool { return s.alone }

// Show begins to serve a job: until then there is none.
func (s *Service) Show(job Observed) {
	s.job.Store(&job)
	s.work.Go(s.loop)
}

// loop looks at the job again and again.
func (s *Service) loop() {
	job := *s.job.Load()
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		s.history.add(job.Look())
		select {
		case <-ticks.C:
		case <-s.over:
			return
		}
	}
}

// Close ends the service, and requests under way.
func (s *Service) Close() {
	close(s.over)
	_ = s.http.Close()
	s.work.Wait()
}

// guard refuses what a page of another site could make a browser ask: requests for another host's name, where
// this server is for its own host alone.
func (s *Service) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.alone && !local(r.Host) {
			http.Error(w, fmt.Sprintf("this server is for its own host: expected localhost or its address, not %q", r.Host), http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// local reports whether the host of a request is a name or an address of loopback.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}

//go:embed page.html
var page []byte

// page serves the page, which loads nothing but its data.
func (s *Service) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:")
	_, _ = w.Write(page) // the reader may be gone
}

// data serves what the page shows.
func (s *Service) data(w http.ResponseWriter, _ *http.Request) {
	job := s.there(w)
	if job == nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.history.state(job.Job())) // the reader may be gone
}

// there returns the job, or refuses a request before there is one.
func (s *Service) there(w http.ResponseWriter) Observed {
	job := s.job.Load()
	if job == nil || !s.history.seen() {
		http.Error(w, "the ranks are being started", http.StatusServiceUnavailable)
		return nil
	}
	return *job
}

// metrics serves counters for Prometheus.
func (s *Service) metrics(w http.ResponseWriter, r *http.Request) {
	if s.there(w) == nil {
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(appendMetrics(nil, s.history.latest(), r.URL.Query().Get("peers") == "1")) // the reader may be gone
}

// variables serves those of a rank.
func (s *Service) variables(w http.ResponseWriter, r *http.Request) {
	s.ask(w, r, "vars", "application/json", 0)
}

// profile serves a profile of a rank.
func (s *Service) profile(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	query.Del("rank")
	what, kind, takes := r.PathValue("profile"), "application/octet-stream", time.Duration(0)
	if what == "cmdline" || query.Get("debug") != "" && query.Get("debug") != "0" {
		kind = "text/plain; charset=utf-8"
	}
	if what == "profile" {
		seconds, err := strconv.Atoi(query.Get("seconds"))
		if err != nil {
			seconds = 30
		}
		takes = time.Duration(seconds) * time.Second
	}
	if rest := query.Encode(); rest != "" {
		what += "?" + rest
	}
	s.ask(w, r, what, kind, takes)
}

// ask passes a question on to a rank, which may take a while to find the answer.
func (s *Service) ask(w http.ResponseWriter, r *http.Request, what, kind string, takes time.Duration) {
	job := s.there(w)
	if job == nil {
		return
	}
	text := r.PathValue("rank")
	if text == "" {
		text = r.URL.Query().Get("rank")
	}
	rank, err := strconv.Atoi(text)
	if err != nil || rank < 0 || rank >= job.Ranks() {
		http.Error(w, fmt.Sprintf("rank %q: expected 0 to %d, as in /rank/0%s or %s?rank=0", text, job.Ranks()-1, r.URL.Path, r.URL.Path), http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), takes+askMost)
	defer cancel()
	answer, err := job.Ask(ctx, launcher.Rank(rank), what)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(answer) // the reader may be gone
}
