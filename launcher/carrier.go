package launcher

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// carrierPatience is how long what has carried an agent may take to end after
// the agent has.
const carrierPatience = 2 * time.Second

// A carrier is a process of this host that brings agents to others: ssh for one,
// or srun for all.
type carrier struct {
	words  []string // the command
	brings []*remote
	byHand string // of ssh: the command line with which the user tries it
	cmd    *exec.Cmd
	said   lastLine // on its standard error
	ended  chan struct{}
	err    error // how it has ended; valid after ended
}

// startCarriers sends for the agents of other hosts.
func (j *job) startCarriers(remotes []*remote) error {
	j.carrierEnded = make(chan *carrier, len(remotes))
	agent, binary, err := j.agentCommand()
	if err != nil {
		return err
	}
	if j.cfg.Remote.Srun {
		return j.startCarrier(srunCarrier(remotes, agent), binary)
	}
	for _, r := range remotes {
		if err := j.startCarrier(sshCarrier(j.cfg.Remote.SSH, r, agent), binary); err != nil {
			return err
		}
	}
	return nil
}

// agentCommand returns the command line of an agent, and the binary that is sent
// ahead of it, or nil.
func (j *job) agentCommand() (words []string, binary []byte, err error) {
	words = j.cfg.Remote.Agent
	path := "/proc/self/exe"
	if words != nil {
		path = words[0]
	} else {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, fmt.Errorf("the path of this program, to start it on other hosts: %w", err)
		}
		words = []string{self, "agent"}
	}
	if !j.cfg.Remote.Stage {
		return words, nil, nil
	}
	if binary, err = os.ReadFile(path); err != nil {
		return nil, nil, fmt.Errorf("copy the agent: %w", err)
	}
	return []string{"sh", "-c", stageScript(words[1:], len(binary))}, binary, nil
}

func sshCarrier(ssh []string, r *remote, agent []string) *carrier {
	words := append([]string{}, ssh...)
	words = append(words, "-T", "-x", "-o", "BatchMode=yes", r.name, shellLine(agent))
	return &carrier{words: words, brings: []*remote{r}, byHand: shellLine(append(slices.Clone(ssh), r.name, "true"))}
}

func srunCarrier(remotes []*remote, agent []string) *carrier {
	var names []string
	for _, r := range remotes {
		names = append(names, r.name)
	}
	n := len(names)
	words := []string{"srun",
		fmt.Sprintf("--nodes=%d", n), fmt.Sprintf("--ntasks=%d", n), "--ntasks-per-node=1", "--nodelist=" + strings.Join(names, ","),
		"--overlap", "--no-kill", "--kill-on-bad-exit=0", "--wait=0", "--mpi=none"}
	return &carrier{words: append(words, agent...), brings: remotes}
}

// startCarrier starts a carrier, and tells the agents what they need to know on
// its standard input: arguments and the environment can be read by others. ssh encrypts
// it on its way; srun of a Slurm without TLS does not.
func (j *job) startCarrier(c *carrier, binary []byte) error {
	config := agentConfig{
		Version: agentVersion, Job: j.id,
		Addresses: j.doorway.addresses, TLS: j.cfg.TLS, Silence: j.cfg.silence(),
		Nodes: map[string]agentNode{},
	}
	for _, r := range c.brings {
		name := r.name
		if !j.cfg.Remote.Srun {
			name = anyNode
		}
		config.Nodes[name] = agentNode{Host: r.number, Credentials: j.server.Authority().Agent(int32(r.number)).Text()}
	}
	line, err := json.Marshal(config)
	if err != nil {
		return err
	}
	c.ended = make(chan struct{})
	c.cmd = exec.Command(c.words[0], c.words[1:]...)
	c.cmd.Stdin = io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(binary))
	c.cmd.Stderr = &c.said
	c.cmd.WaitDelay = 100 * time.Millisecond // a shared connection of ssh may keep its standard error open
	// Out of reach of the terminal's signals: it must outlive the agents.
	c.cmd.SysProcAttr = supervise.DyingWithParent(syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL)
	c.said.tell = func(line string) { j.cfg.Log(c.words[0] + ": " + line) }
	j.cfg.Log("running " + shellLine(c.words))
	j.thread.Do(func() {
		err = j.family.Begin(func() (int, error) {
			if err := c.cmd.Start(); err != nil {
				return 0, err
			}
			return c.cmd.Process.Pid, nil
		})
	})
	if err != nil {
		return fmt.Errorf("host %s: %w", c.brings[0].name, err)
	}
	j.carriers = append(j.carriers, c)
	go func() {
		defer close(c.ended)
		c.err = c.cmd.Wait()
		j.family.Leave(c.cmd.Process.Pid)
		j.carrierEnded <- c
	}()
	return nil
}

// failure says why the agent of a host has not come, now that its carrier has
// ended.
func (c *carrier) failure(r *remote) error {
	said := c.said.String()
	status := 0
	if exit, ok := errors.AsType[*exec.ExitError](c.err); ok {
		status = exit.ExitCode()
	}
	switch {
	case status == 126 || status == 127:
		return fmt.Errorf("host %s: gaspi-run cannot be started there (%s): install it at the same path, or use --stage", r.name, or(said, fmt.Sprintf("status %d", status)))
	case c.byHand != "" && status == sshFailed && adviceOf(said, c.byHand) != "":
		return fmt.Errorf("host %s: %s; %s", r.name, strings.TrimSuffix(said, "."), adviceOf(said, c.byHand))
	case said != "":
		return fmt.Errorf("host %s: %s", r.name, strings.TrimPrefix(said, "gaspi-run agent: "))
	case c.err != nil:
		return fmt.Errorf("host %s: %s ended: %w", r.name, c.words[0], c.err)
	}
	return fmt.Errorf("host %s: %s ended before the agent had connected", r.name, c.words[0])
}

// dismissCarriers waits for the carriers to end with their agents, and ends them
// if they take long.
func (j *job) dismissCarriers() {
	limit := time.After(carrierPatience)
	for _, c := range j.carriers {
		if !c.hasCome() {
			c.kill() // nothing will make it end by itself soon
		}
		select {
		case <-c.ended:
		case <-limit:
			limit = time.After(0)
			c.kill()
			<-c.ended
		}
	}
}

func (c *carrier) hasCome() bool {
	for _, r := range c.brings {
		if !r.connected() {
			return false
		}
	}
	return true
}

func (c *carrier) kill() { syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// A lastLine passes on lines and keeps the last one that says something.
type lastLine struct {
	tell func(string)

	mu      sync.Mutex
	pending []byte
	last    string
}

// maxLastLine bounds what is kept of a line, in bytes.
const maxLastLine = 4096

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.pending = append(l.pending, line[:min(len(line), maxLastLine-len(l.pending))]...)
		if whole {
			l.endLocked()
		}
		rest = after
	}
	return len(p), nil
}

func (l *lastLine) endLocked() {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(l.pending), "?")); text != "" {
		l.last = text
		l.tell(text)
	}
	l.pending = l.pending[:0]
}

// String is the last line, also if its end has not come.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) > 0 {
		l.endLocked()
	}
	return l.last
}

// stageScript returns what a shell on another host does to run an agent that is
// not installed there: it takes the first line of its input for the agent and
// the rest for the agent's binary, of that many bytes, in a new directory, which
// the agent removes as soon as it runs. It has no single quotes in it, so that
// any shell can be told to pass it on.
func stageScript(args []string, size int) string {
	return strings.Join([]string{
		`umask 077`,
		`d=$(mktemp -d "${TMPDIR:-/tmp}/gaspi-run.XXXXXXXX") || exit 1`,
		`trap "rm -rf \"$d\"" EXIT`,
		`trap "exit 1" HUP INT TERM`,
		`IFS= read -r line`,
		`cat >"$d/gaspi-run" || exit 1`,
		fmt.Sprintf(`test $(wc -c <"$d/gaspi-run") -eq %d || { echo "the copy of gaspi-run is not complete" >&2; exit 1; }`, size),
		`chmod 700 "$d/gaspi-run"`,
		`printf "%s\n" "$line" | "$d/gaspi-run" ` + strings.Join(args, " ") + ` "$d"`,
	}, "; ")
}

// shellLine writes words such that a shell reads them back as they are.
func shellLine(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, shellQuote(w))
	}
	return strings.Join(quoted, " ")
}

func shellQuote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
