package main

import (
	"os"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-run/internal/probe"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// agentWord is the first argument by which this program is not what a user
// starts, but what the launcher on another host needs on this one. A program of
// that name can be started as ./agent.
const agentWord = "agent"

// agent runs the ranks of this host for a launcher elsewhere.
func agent(args []string, stdin, stderr *os.File) int {
	staged := ""
	if len(args) > 0 {
		staged = args[0]
	}
	return launcher.RunAgent(stdin, stderr, staged, probe.Open)
}
