package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

const (
	pmi1Init    = "cmd=init pmi_version=1 pmi_subversion=1\n"
	pmi1Welcome = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	pmi1Maxes   = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	pmi1Space   = "cmd=my_kvsname kvsname=kvs_7\n"
)

// pmi1Opening is the part of a script that begin plays.
var pmi1Opening = script{{pmi1Init, pmi1Welcome}, {"cmd=get_maxes\n", pmi1Maxes}, {"cmd=get_my_kvsname\n", pmi1Space}}

func TestPMI1(t *testing.T) {
	conn, heard := append(append(script{
		{"cmd=initack pmiid=3\n", "cmd=initack\ncmd=set size=8\ncmd=set rank=3\ncmd=set debug=0\n"},
	}, pmi1Opening...), script{
		{"cmd=put kvsname=kvs_7 key=k value=a=b;c\n", "cmd=put_result rc=0 msg=success\n"},
		{"cmd=barrier_in\n", "cmd=barrier_out\n"},
		{"cmd=get kvsname=kvs_7 key=k\n", "cmd=get_result rc=0 msg=it is there value=a=b;c\n"},
		{"cmd=finalize\n", "cmd=finalize_ack\n"},
	}...).play(t)
	ctx := testenv.Context(t)
	p := newPMI1(conn)
	if rank, size, err := p.introduce(ctx, 3); rank != 3 || size != 8 || err != nil {
		t.Fatalf("rank %d of %d, %v", rank, size, err)
	}
	if err := p.begin(ctx); err != nil {
		t.Fatal(err)
	}
	exchangeOne(t, ctx, p, "a=b;c", heard)
}

func TestPMI1ThatGoesWrong(t *testing.T) {
	opened := func(more ...struct{ ask, answer string }) script { return append(pmi1Opening[:3:3], more...) }
	const get = "cmd=get kvsname=kvs_7 key=k\n"
	for _, c := range []struct {
		name   string
		script script
		want   string
	}{
		{"another version", script{{pmi1Init, "cmd=response_to_init rc=-1 msg=no\n"}}, `init: code "-1" "no"`},
		{"PMI-2", script{{pmi1Init, "    33cmd=fullinit-response;rc=0;size=2;\n"}}, "init: the answer is a"},
		{"endless line", script{{pmi1Init, strings.Repeat("x", maxPMI1+1)}}, "more than 65536 bytes"},
		{"cut off", script{{pmi1Init, pmi1Welcome[:20]}}, "init: unexpected EOF"},
		{"closed", script{{pmi1Init, ""}}, "init: EOF"},
		{"twice", script{{pmi1Init, "cmd=response_to_init rc=0 rc=1\n"}}, `says "rc" twice`},
		{"no limit", script{{pmi1Init, pmi1Welcome}, {"cmd=get_maxes\n", "cmd=maxes keylen_max=64\n"}}, `vallen_max=""; expected a number`},
		{"limit that is none", script{{pmi1Init, pmi1Welcome}, {"cmd=get_maxes\n", "cmd=maxes keylen_max=-1 vallen_max=1\n"}}, `keylen_max="-1"`},
		{"limit that overflows", script{{pmi1Init, pmi1Welcome}, {"cmd=get_maxes\n", "cmd=maxes keylen_max=99999999999999999999 vallen_max=1\n"}}, "expected a number"},
		{"no name", script{{pmi1Init, pmi1Welcome}, {"cmd=get_maxes\n", pmi1Maxes}, {"cmd=get_my_kvsname\n", "cmd=my_kvsname\n"}}, "the answer has no name"},
		{"value that nobody put", opened(struct{ ask, answer string }{get, "cmd=get_result rc=-1 msg=key_k_not_found value=unknown\n"}), `code "-1" "key_k_not_found"`},
		{"another answer", opened(struct{ ask, answer string }{get, "cmd=barrier_out\n"}), `"barrier_out", not get_result`},
		{"nothing", opened(struct{ ask, answer string }{get, "\n"}), `"", not get_result`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, _ := c.script.play(t)
			p := newPMI1(conn)
			err := p.begin(testenv.Context(t))
			if err == nil {
				_, err = p.get(testenv.Context(t), "k")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "PMI-1: ") {
				t.Errorf("%v, want an error of PMI-1 with %q", err, c.want)
			}
		})
	}
}

func TestPMI1RefusesWhatItCannotSay(t *testing.T) {
	conn, _ := pmi1Opening.play(t)
	p := newPMI1(conn)
	if err := p.begin(testenv.Context(t)); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"k", "two words"}, {"k", "two\nlines"}, {"a key", "v"}, {"k", strings.Repeat("v", 1024)}, {strings.Repeat("k", 64), "v"}} {
		if err := p.put(testenv.Context(t), kv[0], kv[1]); err == nil || !strings.Contains(err.Error(), "without spaces") {
			t.Errorf("%.20q, %.20q: %v", kv[0], kv[1], err)
		}
	}
}

func TestPMI1TakesThisProcessForNoRank(t *testing.T) {
	for _, said := range []string{"cmd=set size=2\ncmd=set rank=2\ncmd=set debug=0\n", "cmd=set size=0\ncmd=set rank=0\ncmd=set debug=0\n"} {
		conn, _ := script{{"cmd=initack pmiid=0\n", "cmd=initack\n" + said}}.play(t)
		if _, _, err := newPMI1(conn).introduce(testenv.Context(t), 0); err == nil || !strings.Contains(err.Error(), "takes this process for rank") {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func TestPMI1EndsWithTheContext(t *testing.T) {
	conn, other := net.Pipe()
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newPMI1(conn).begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestMapping(t *testing.T) {
	for text, want := range map[string][]hostBlock{
		"(vector,(0,1,1))":           {{0, 1, 1}},
		"(vector,(0,2,4),(2,1,1))":   {{0, 2, 4}, {2, 1, 1}},
		" (vector,(3,1,2))\n":        {{3, 1, 2}},
		"":                           nil,
		"(vector)":                   nil,
		"(vector,())":                nil,
		"(vector,(0,0,1))":           nil,
		"(vector,(0,1,0))":           nil,
		"(vector,(-1,1,1))":          nil,
		"(vector,(0,1))":             nil,
		"(vector,(0,1,1,1))":         nil,
		"(vector,(0,1,99999999999))": nil,
		"(matrix,(0,1,1))":           nil,
		"(vector,(0,1,1)":            nil,
		"(vector,(0,1,1)x(0,1,1))":   nil,
	} {
		got, err := parseMapping(text)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(hostBlock{})); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, d)
		}
	}
}

func TestLocate(t *testing.T) {
	for text, want := range map[string]string{
		"(vector,(0,1,4))":         "0:0/4 0:1/4 0:2/4 0:3/4",
		"(vector,(0,2,2))":         "0:0/2 0:1/2 1:0/2 1:1/2",
		"(vector,(0,2,1))":         "0:0/2 1:0/2 0:1/2 1:1/2", // again and again
		"(vector,(0,1,1),(5,1,2))": "0:0/2 5:0/2 5:1/2 0:1/2",
		"(vector,(2,9,1))":         "2:0/1 3:0/1 4:0/1 5:0/1",
		"(vector,(0,1,9))":         "0:0/4 0:1/4 0:2/4 0:3/4",
	} {
		blocks, err := parseMapping(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r := range 4 {
			host, local, of := locate(blocks, r, 4)
			got = append(got, fmt.Sprintf("%d:%d/%d", host, local, of))
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

// FuzzPMI1 checks that no answer, and no mapping, makes a reader panic or take much memory.
func FuzzPMI1(f *testing.F) {
	f.Add("cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n")
	f.Add("cmd=get_result rc=-1 msg=no\n")
	f.Add("cmd=get_result value=(vector,(0,9999999,1),(1,1,9999999))")
	f.Add("\x00=\n")
	f.Fuzz(func(t *testing.T, in string) {
		p := &pmi1{in: bufio.NewReaderSize(strings.NewReader(in), maxPMI1)}
		answer, err := p.answer("get_result")
		size := 0
		for k, v := range answer {
			size += len(k) + len(v)
		}
		if size > len(in) || err != nil && answer != nil {
			t.Errorf("%q was read as %q, %v", in, answer, err)
		}
		if blocks, err := parseMapping(answer["value"]); err == nil {
			if host, local, of := locate(blocks, 2, 5); host < 0 || local >= of || of > 5 {
				t.Errorf("%q: rank 2 of 5 is %d of %d on host %d", in, local, of, host)
			}
		}
	})
}

// A manager is a process manager that speaks PMI-1 to processes that connect to it.
type manager struct {
	listener net.Listener
	size     int
	mapping  string // PMI_process_mapping, if there is one

	mu     sync.Mutex
	values map[string]string
	inside int           // processes at the barrier
	open   chan struct{} // closed when all are there
	over   chan struct{} // closed when the test is
	closed int           // processes that have ended their talk well
	heard  int           // lines
}

func startManager(t *testing.T, size int, mapping string) *manager {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{listener: l, size: size, mapping: mapping, values: map[string]string{}, open: make(chan struct{}), over: make(chan struct{})}
	if mapping != "" {
		m.values[pmiMapping] = mapping
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			serving.Go(func() { m.serve(t, conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		close(m.over)
		serving.Wait()
	})
	return m
}

// serve answers one process until it is gone.
func (m *manager) serve(t *testing.T, conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		asked, err := pmi1Pairs(in.Text())
		if err != nil {
			t.Errorf("%q: %v", in.Text(), err)
			return
		}
		io.WriteString(conn, m.answer(asked))
	}
}

func (m *manager) answer(asked map[string]string) string {
	m.mu.Lock()
	m.heard++
	m.mu.Unlock()
	switch asked["cmd"] {
	case "initack":
		return fmt.Sprintf("cmd=initack\ncmd=set size=%d\ncmd=set rank=%s\ncmd=set debug=0\n", m.size, asked["pmiid"])
	case "init":
		return pmi1Welcome
	case "get_maxes":
		return pmi1Maxes
	case "get_my_kvsname":
		return pmi1Space
	case "barrier_in":
		m.mu.Lock()
		if m.inside++; m.inside == m.size {
			close(m.open)
		}
		m.mu.Unlock()
		select {
		case <-m.open:
		case <-m.over:
		}
		return "cmd=barrier_out\n"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch asked["cmd"] {
	case "put":
		m.values[asked["key"]] = asked["value"]
		return "cmd=put_result rc=0 msg=success\n"
	case "get":
		if value, ok := m.values[asked["key"]]; ok {
			return "cmd=get_result rc=0 msg=success value=" + value + "\n"
		}
		return "cmd=get_result rc=-1 msg=not_found value=unknown\n"
	case "finalize":
		m.closed++
		return "cmd=finalize_ack\n"
	}
	return "cmd=" + asked["cmd"] + " rc=-1 msg=unknown\n"
}
