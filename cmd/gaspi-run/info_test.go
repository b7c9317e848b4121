package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestInfo(t *testing.T) {
	var out bytes.Buffer
	if err := info([]string{"--hosts", "a:2,b:3"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"TRANSPORT", "shm", "rdma", "tcp", "locked memory", "a, ranks 0-1: shm", "b, ranks 2-4: shm"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if err := info([]string{"--transport"}, &out); err == nil {
		t.Error("flags that make no sense were accepted")
	}
}

func TestPairs(t *testing.T) {
	hosts := []launcher.Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 2}}
	for _, c := range []struct {
		name, forced string
		hosts        []launcher.Host
		want         []string
	}{
		{"here", "", nil, []string{"ranks of this host: shm"}},
		{"here, forced", "rdma", nil, []string{"ranks of this host: rdma"}},
		{"hosts", "auto", hosts, []string{
			"a, ranks 0-0: shm among themselves, rdma with the others, if their hosts have it too, else tcp",
			"b, ranks 1-2: shm among themselves, rdma with the others, if their hosts have it too, else tcp",
		}},
	} {
		if diff := cmp.Diff(c.want, pairs(c.hosts, c.forced, "rdma")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for _, c := range []struct {
		ways []gaspi.Way
		want string
	}{
		{[]gaspi.Way{{Transport: "shm", Chosen: true}, {Transport: "tcp", Chosen: true}}, "tcp"},
		{[]gaspi.Way{{Transport: "shm", Chosen: true}, {Transport: "rdma", Chosen: true}, {Transport: "tcp"}}, "rdma"},
	} {
		if got := between(c.ways); got != c.want {
			t.Errorf("%v: %s, want %s", c.ways, got, c.want)
		}
	}
}
