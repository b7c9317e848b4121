package boot

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

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
		m.values["PMI_process_mapping"] = mapping
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			serving.Go(func() { m.serve(conn) })
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
func (m *manager) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		asked := map[string]string{}
		for word := range strings.FieldsSeq(in.Text()) {
			key, value, _ := strings.Cut(word, "=")
			asked[key] = value
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
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	case "get_maxes":
		return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=kvs_7\n"
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
