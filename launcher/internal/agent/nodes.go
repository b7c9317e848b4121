package agent

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// An Enlistment is what a node says of itself when it joins.
type Enlistment struct {
	Nodes     int // how many it expects
	Ranks     int // how many it starts
	Transport string
	Problem   string // why it cannot start any; empty if it can
	Because   obstacle
}

// A JobEnd says how the job has ended, for the other nodes.
type JobEnd struct {
	Code     int    // the exit code of all nodes
	Sentence string // why it is not 0
	Problem  string // why the job did not run; empty if it did
	Because  obstacle
}

// RefusalOf returns the end of a job that does not run.
func RefusalOf(err error) JobEnd {
	return JobEnd{Problem: err.Error(), Because: obstacleOf(err)}
}

// Err returns the error of a job that did not run, or nil.
func (v JobEnd) Err() error {
	switch {
	case v.Problem == "":
		return nil
	case v.Because <= otherObstacle || int(v.Because) >= len(obstacles):
		return errors.New(v.Problem)
	}
	return &supervise.StartError{Kind: obstacles[v.Because], Sentence: v.Problem}
}

// A Demand is what a node wants of the job: its end, by a signal or for a reason.
type Demand struct {
	Signal int // that the node got, or 0
	Code   int
	What   string
}

// Enlist says to node 0, at the other end of a connection, what this node is. problem is why it cannot start
// any rank; nil if it can.
func Enlist(conn *talk.Conn, e Enlistment, problem error) {
	if problem != nil {
		e.Problem, e.Because = problem.Error(), obstacleOf(problem)
	}
	name, _ := os.Hostname()
	conn.Send(encode(frameReady, 0, Ready{Host: name, PID: os.Getpid(), Cores: runtime.GOMAXPROCS(0), Node: &e}))
}

// A NodeConn is the connection of node 0 with another node, which becomes a Site when all nodes have joined.
type NodeConn struct {
	conn  *talk.Conn
	ready Ready
	next  chan received // holds what came after its first word
}

type received struct {
	frame talk.Frame
	err   error
}

// NewNodeConn returns one over conn, which it takes. Nothing was heard of the node yet.
func NewNodeConn(conn *talk.Conn) *NodeConn {
	return &NodeConn{conn: conn, next: make(chan received, 1)}
}

// Hear blocks until the node has said what it is.
func (n *NodeConn) Hear() error {
	f, err := n.conn.Receive()
	if err != nil {
		return err
	}
	if n.ready, err = firstWord(f); err != nil {
		return err
	}
	if n.ready.Node == nil {
		return errors.New("it says nothing of itself")
	}
	return nil
}

// firstWord reads what an agent says first.
func firstWord(f talk.Frame) (Ready, error) {
	if f.Kind != frameReady {
		return Ready{}, fmt.Errorf("its first frame is of kind %d", f.Kind)
	}
	return decode[Ready](f)
}

// HearOn blocks until the Site of the node has something to do. Its error says that the node has left.
func (n *NodeConn) HearOn() error {
	f, err := n.conn.Receive()
	n.next <- received{f, err}
	return err
}

// Ready returns the first word of the node, valid after Hear.
func (n *NodeConn) Ready() Ready { return n.ready }

// Problem returns the error of a node that cannot start its ranks, with its name before it, or nil.
func (n *NodeConn) Problem(name string) error {
	own := n.ready.Node
	if own.Problem == "" {
		return nil
	}
	return JobEnd{Problem: name + ": " + own.Problem, Because: own.Because}.Err()
}

// Tell has the node tell its user something.
func (n *NodeConn) Tell(sentence string) {
	n.conn.Send(talk.Frame{Kind: frameNotice, Data: []byte(sentence)})
}

// Dismiss tells the node that the job does not run.
func (n *NodeConn) Dismiss(v JobEnd) { n.conn.Send(encode(frameOver, 0, v)) }

// Close closes the connection once all was sent.
func (n *NodeConn) Close() { n.conn.Close() }
