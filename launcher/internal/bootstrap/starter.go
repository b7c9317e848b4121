// Package bootstrap starts agents on other hosts, by ssh or srun: their command lines, the copy of a
// program that is not installed there, and what it means when they end before their agent has come.
//
// It knows neither ranks nor what an agent is told: the first line of an agent's input is package
// launcher's business.
package bootstrap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// An Agent is the command that runs on other hosts.
type Agent struct {
	words  []string
	binary []byte // sent ahead of it; nil if it is installed there
}

// Find returns the agent that the words of a command name; nil means this program with the argument agent. If it
// is to be staged, the agent is copied to the other hosts.
func Find(words []string, stage bool) (Agent, error) {
	path := "/proc/self/exe"
	if words != nil {
		path = words[0]
	} else {
		self, err := os.Executable()
		if err != nil {
			return Agent{}, fmt.Errorf("the path of this program, to start it on other hosts: %w", err)
		}
		words = []string{self, "agent"}
	}
	if !stage {
		return Agent{words: words}, nil
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return Agent{}, fmt.Errorf("copy the agent: %w", err)
	}
	return Agent{words: []string{"sh", "-c", stageScript(words[1:], len(binary))}, binary: binary}, nil
}

// A Starter is a process of this host that starts agents on others: ssh for one, or srun for all.
type Starter struct {
	hosts  []string
	words  []string // the command
	binary []byte   // of the agent; nil if it is installed there
	byHand string   // of ssh: the command line with which the user tries it
	cmd    *exec.Cmd
	said   lastLine // on its standard error
	ended  chan struct{}
	err    error // how it has ended; valid after ended
}

// SSH returns what starts an agent on one host. ssh is the command, with its options.
func SSH(ssh []string, host string, agent Agent) *Starter {
	words := append([]string{}, ssh...)
	words = append(words, "-T", "-x", "-o", "BatchMode=yes", host, shellLine(agent.words))
	return &Starter{words: words, hosts: []string{host}, binary: agent.binary, byHand: shellLine(append(slices.Clone(ssh), host, "true"))}
}

// Srun returns what starts an agent on each of some hosts, which are nodes of the Slurm allocation.
func Srun(hosts []string, agent Agent) *Starter {
	n := len(hosts)
	words := []string{"srun",
		fmt.Sprintf("--nodes=%d", n), fmt.Sprintf("--ntasks=%d", n), "--ntasks-per-node=1", "--nodelist=" + strings.Join(hosts, ","),
		"--overlap", "--no-kill", "--kill-on-bad-exit=0", "--wait=0", "--mpi=none"}
	return &Starter{words: append(words, agent.words...), hosts: hosts, binary: agent.binary}
}

// A Parent is what the process of a Starter belongs to here.
type Parent struct {
	Thread   *supervise.Thread
	Children *supervise.Children
	Log      func(line string)
	Ended    func(s *Starter) // called when it has ended, from a goroutine of its own
}

// Start starts the process. The agents read line first, on their standard input: arguments and the environment
// can be read by others. ssh encrypts it on its way; srun of a Slurm without TLS does not.
func (s *Starter) Start(line []byte, parent Parent) (err error) {
	s.ended = make(chan struct{})
	s.cmd = exec.Command(s.words[0], s.words[1:]...)
	s.cmd.Stdin = io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(s.binary))
	s.cmd.Stderr = &s.said
	s.cmd.WaitDelay = 100 * time.Millisecond // a shared connection of ssh may keep its standard error open
	// Out of reach of the terminal's signals: it must outlive the agents.
	s.cmd.SysProcAttr = supervise.DyingWithParent(syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL)
	s.said.tell = func(line string) { parent.Log(s.words[0] + ": " + line) }
	parent.Log("running " + shellLine(s.words))
	parent.Thread.Do(func() {
		err = parent.Children.Begin(func() (int, error) {
			if err := s.cmd.Start(); err != nil {
				return 0, err
			}
			return s.cmd.Process.Pid, nil
		})
	})
	if err != nil {
		return fmt.Errorf("host %s: %w", s.hosts[0], err)
	}
	go func() {
		defer close(s.ended)
		s.err = s.cmd.Wait()
		parent.Children.Leave(s.cmd.Process.Pid)
		parent.Ended(s)
	}()
	return nil
}

// Failure returns why the agent of a host has not come, although the process has ended.
func (s *Starter) Failure(host string) error {
	said := s.said.String()
	status := 0
	if exit, ok := errors.AsType[*exec.ExitError](s.err); ok {
		status = exit.ExitCode()
	}
	switch {
	case status == 126 || status == 127:
		return fmt.Errorf("host %s: gaspi-run cannot be started there (%s): install it at the same path, or use --stage", host, cmp.Or(said, fmt.Sprintf("status %d", status)))
	case s.byHand != "" && status == sshFailed && adviceOf(said, s.byHand) != "":
		return fmt.Errorf("host %s: %s; %s", host, strings.TrimSuffix(said, "."), adviceOf(said, s.byHand))
	case said != "":
		return fmt.Errorf("host %s: %s", host, strings.TrimPrefix(said, "gaspi-run agent: "))
	case s.err != nil:
		return fmt.Errorf("host %s: %s ended: %w", host, s.words[0], s.err)
	}
	return fmt.Errorf("host %s: %s ended before the agent had connected", host, s.words[0])
}

// Ended returns a channel that is closed when the process has ended.
func (s *Starter) Ended() <-chan struct{} { return s.ended }

// Kill kills the process and its children.
func (s *Starter) Kill() { syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }
