package model

import (
	"encoding/json"
	"testing"
)

// Goal: a call that has more under way than the nearest cache holds finds slower
// sockets; one that has less finds its scratch there; nothing else is different.
func TestMachineAt(t *testing.T) {
	m := Machine{Call: 1, SocketRate: 8, SocketFar: 4, Near: 100}
	near, far := m, m
	near.cached = true
	far.SocketRate = 4
	free := Machine{SocketFar: 4, Near: 100} // messages land by themselves
	cores, nearCores, farCores := m, near, far
	cores.Cores, nearCores.Cores, farCores.Cores = 2, 2, 2
	for _, c := range []struct {
		name  string
		m     Machine
		bytes int
		ranks int
		want  Machine
	}{
		{"near", m, 100, 4, near},
		{"far", m, 101, 4, far},
		{"no cost", free, 101, 4, free},
		{"one rate", Machine{SocketRate: 8}, 101, 4, Machine{SocketRate: 8}},
		{"near, a core each", cores, 100, 2, nearCores},
		{"near, two of a core", cores, 50, 4, nearCores},
		{"far, two of a core", cores, 51, 3, farCores},
		{"near, five of a core", cores, 25, 10, nearCores},
		{"far, five of a core", cores, 26, 10, farCores},
	} {
		if got := c.m.At(c.bytes, c.ranks); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Goal: what comes from memory takes the time of a read longer, and nothing is different
// where messages land by themselves or memory has no limit.
func TestMachineFlooded(t *testing.T) {
	for _, c := range []struct {
		name    string
		m, want Machine
	}{
		{"sockets", Machine{Call: 1, SocketRate: 4, CoreMemory: 2}, Machine{Call: 1, SocketRate: 2, CoreMemory: 2}},
		{"no sockets", Machine{CoreMemory: 2}, Machine{CoreMemory: 2}},
		{"no limit", Machine{SocketRate: 4}, Machine{SocketRate: 4}},
	} {
		if got := c.m.Flooded(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Goal: a sender does its share of the work on bytes, half if nothing else is said, and both sides together
// do as much whatever it is.
func TestMachineSendShare(t *testing.T) {
	for _, c := range []struct {
		m               Machine
		sends, receives float64
	}{
		{Machine{SocketRate: 4}, 2, 2},
		{Machine{SocketRate: 4, SendShare: 0.5}, 2, 2},
		{Machine{SocketRate: 4, SendShare: 0.75}, 3, 1},
		{Machine{SocketRate: 4, SendShare: 1}, 4, 0},
		{Machine{SendShare: 0.75}, 0, 0},
	} {
		if err := c.m.Check(); err != nil || c.m.Sending(8) != c.sends || c.m.Receiving(8) != c.receives {
			t.Errorf("%+v: %v, %v s and %v s, want %v and %v", c.m, err, c.m.Sending(8), c.m.Receiving(8), c.sends, c.receives)
		}
	}
	for _, share := range []float64{-0.1, 1.1} {
		if err := (&Machine{SendShare: share}).Check(); err == nil {
			t.Errorf("a share of %v is accepted", share)
		}
	}
}

// TestMachineFile checks the names of the parameters in a file, which others
// write.
func TestMachineFile(t *testing.T) {
	m := Machine{
		Call: 1, Await: 2, Step: 3, Network: Link{Latency: 4, Put: 5, Signal: 6}, Shared: Link{Latency: 7, Put: 8, Signal: 9}, Bandwidth: 10, Ports: 11,
		ReduceRate: 12, CopyRate: 13, CodeRate: 14, CodeRatio: 15, Memory: 16, CoreMemory: 21, Cache: 17,
		RanksPerNode: 18, Cores: 19, Switch: 20, SocketRate: 22, Take: 23, SocketFar: 24, Near: 25, SendShare: 0.5,
	}
	const want = `{"call":1,"await":2,"step":3,` +
		`"network":{"latency":4,"put":5,"signal":6},"shared":{"latency":7,"put":8,"signal":9},` +
		`"bandwidth":10,"ports":11,"socket_rate":22,"take":23,"socket_far":24,"near":25,"send_share":0.5,"reduce_rate":12,"copy_rate":13,"code_rate":14,"code_ratio":15,` +
		`"memory":16,"core_memory":21,"cache":17,"ranks_per_node":18,"cores":19,"switch":20}`
	got, err := json.Marshal(m)
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}
