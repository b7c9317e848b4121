// Package model declares the parameters of the model that package collectives chooses algorithms
// by: the costs of messages, copies and folds on one kind of machine. Programs use the name
// collectives.Machine. The package imports nothing of this module.
package model

import "fmt"

// A Machine is the parameters of the model: what messages, copies and folds cost. Times are
// seconds, rates are bytes per second. A cost of 0 is free and a rate of 0 is infinite.
type Machine struct {
	// Call is what a run costs each rank before its first step.
	Call float64 `json:"call"`
	// Await is what it costs the CPU to see a post. Too small favours algorithms
	// of many small messages.
	Await float64 `json:"await"`
	// Step is what a combine, copy, encode or decode costs however short it is.
	Step float64 `json:"step"`

	// Network is between ranks of different nodes, Shared between those of one.
	Network Link `json:"network"`
	Shared  Link `json:"shared"`

	// Bandwidth is of one port, in each direction. Ports are those of a node; 0
	// means 1.
	Bandwidth float64 `json:"bandwidth"`
	Ports     int     `json:"ports"`
	// SocketRate is the bytes that the CPU of a rank moves into or out of the network, in the mean of both,
	// and Take what a message from there costs the CPU of the receiver; 0 where messages
	// land by themselves.
	SocketRate float64 `json:"socket_rate"`
	Take       float64 `json:"take"`
	// SocketFar takes the place of SocketRate where more than Near bytes of the vectors of a
	// core's ranks are under way at a time, which then leave the nearest cache before they are
	// moved again; see At. 0 means that it is the same.
	SocketFar float64 `json:"socket_far"`
	Near      int     `json:"near"`
	// SendShare is the part of the work of moving bytes from one rank to another through the network
	// that the sender does; 0 means half.
	SendShare float64 `json:"send_share"`

	// ReduceRate is the bytes of an operand folded into another: a combine of k
	// sources of n bytes takes (k-1)n/ReduceRate.
	ReduceRate float64 `json:"reduce_rate"`
	// CopyRate is the bytes copied: by a copy, by a put to a rank of the same node,
	// and to all destinations of a combine but the first.
	CopyRate float64 `json:"copy_rate"`
	// CodeRate is the bytes, not coded, that are encoded or decoded. CodeRatio is
	// the length of the coded form by that of the other; 0 means 1.
	CodeRate  float64 `json:"code_rate"`
	CodeRatio float64 `json:"code_ratio"`

	// Memory is the bytes that all ranks of a host together read and write, and
	// CoreMemory those that one rank can: more than one core is needed to use all of
	// it. Both count if the buffers of the call on the host exceed Cache bytes.
	Memory     float64 `json:"memory"`
	CoreMemory float64 `json:"core_memory"`
	Cache      int     `json:"cache"`

	// RanksPerNode is how many consecutive ranks share a node if the call does not
	// say where ranks are; 0 means 1.
	RanksPerNode int `json:"ranks_per_node"`
	// Cores is the number of cores of a host, 0 for one per rank. Switch is the seconds that it
	// takes to hand a core from one rank to another.
	Cores  int     `json:"cores"`
	Switch float64 `json:"switch"`

	cached bool // see Cached
}

// A Link is what a message costs between two ranks, in seconds.
type Link struct {
	// Latency is from the end of the sender's work to the first byte, or the post
	// if there is no other, at the receiver.
	Latency float64 `json:"latency"`
	// Put and Signal are the sender's CPU per message.
	Put    float64 `json:"put"`
	Signal float64 `json:"signal"`
}

// Check returns why there is no such machine, or nil.
func (m *Machine) Check() error {
	for _, p := range []struct {
		name  string
		value float64
	}{
		{"call", m.Call}, {"await", m.Await}, {"step", m.Step},
		{"network.latency", m.Network.Latency}, {"network.put", m.Network.Put}, {"network.signal", m.Network.Signal}, {"take", m.Take},
		{"shared.latency", m.Shared.Latency}, {"shared.put", m.Shared.Put}, {"shared.signal", m.Shared.Signal},
		{"bandwidth", m.Bandwidth}, {"ports", float64(m.Ports)}, {"socket_rate", m.SocketRate},
		{"socket_far", m.SocketFar}, {"near", float64(m.Near)}, {"send_share", m.SendShare}, {"reduce_rate", m.ReduceRate},
		{"copy_rate", m.CopyRate}, {"code_rate", m.CodeRate}, {"code_ratio", m.CodeRatio},
		{"memory", m.Memory}, {"core_memory", m.CoreMemory}, {"cache", float64(m.Cache)}, {"ranks_per_node", float64(m.RanksPerNode)},
		{"cores", float64(m.Cores)}, {"switch", m.Switch},
	} {
		if !(p.value >= 0 && p.value <= most) {
			return fmt.Errorf("model: %s of a machine is %v; it is a number from 0 to %v", p.name, p.value, most)
		}
	}
	if m.SendShare > 1 {
		return fmt.Errorf("model: send_share of a machine is %v; it is a part, from 0 to 1", m.SendShare)
	}
	return nil
}

const most = 1e18 // keeps sums of costs finite

// Sending is how long the CPU of a rank moves bytes into the network, in seconds, and Receiving how long
// out of it.
func (m *Machine) Sending(bytes float64) float64 { return m.moving(bytes, m.sendShare()) }

// Receiving is as Sending.
func (m *Machine) Receiving(bytes float64) float64 { return m.moving(bytes, 1-m.sendShare()) }

// moving is a part of the work of both sides.
func (m *Machine) moving(bytes, share float64) float64 {
	if m.SocketRate == 0 {
		return 0
	}
	return float64(bytes / m.SocketRate * float64(2*share)) // rounded here, for all processors alike
}

func (m *Machine) sendShare() float64 {
	if m.SendShare == 0 {
		return 0.5
	}
	return m.SendShare
}

// At is the machine as a call finds it that has so many bytes of a rank's vectors under
// way at a time, all of them or segments, on a host of so many ranks. Where these are few and come
// through sockets, scratch is in the cache when it is combined.
func (m *Machine) At(bytes, ranks int) Machine {
	at := *m
	switch {
	case at.SocketRate == 0:
	case bytes*at.perCore(ranks) <= at.Near:
		at.cached = true
	case at.SocketFar > 0:
		at.SocketRate = at.SocketFar
	}
	return at
}

// mostPerCore is the most ranks of a core that leave each other less of the nearest cache. With 8 of a core, broadcasts
// of 1 MiB in two pieces took 1.4 times as long as in one, and allreduces and reductions as long.
const mostPerCore = 4

// perCore is how many of the ranks of a host share the nearest cache of a core.
func (m *Machine) perCore(ranks int) int {
	if m.Cores == 0 {
		return 1
	}
	return min((ranks+m.Cores-1)/m.Cores, mostPerCore)
}

// Cached reports whether bytes that came through a socket are in the cache when they are combined:
// see At.
func (m *Machine) Cached() bool { return m.cached }

// Flooded is the machine where more lies in the sockets of a host than its caches hold:
// what a rank receives comes from memory.
func (m Machine) Flooded() Machine {
	if m.SocketRate > 0 && m.CoreMemory > 0 {
		m.SocketRate = 1 / (1/m.SocketRate + 1/(2*m.CoreMemory)) // which also counts what is sent
	}
	return m
}
