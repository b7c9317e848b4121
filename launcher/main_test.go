package launcher

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// roleEnv makes this test binary a rank: its value says what the rank does.
const roleEnv = "LAUNCHER_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(RunAgent(os.Stdin, os.Stderr, strings.Join(os.Args[2:], "")))
	}
	os.Exit(testenv.Run(m.Run))
}

// play is what a rank of these tests does; it returns the exit status.
func play(role string) int {
	switch role {
	case "args":
		for _, arg := range os.Args {
			fmt.Printf("%q\n", arg)
		}
	case "env":
		for _, kv := range os.Environ() {
			fmt.Printf("%q\n", kv)
		}
	case "deaf": // to every signal that can be ignored
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("ready")
		time.Sleep(time.Hour) // sleep: until it is killed; select would be a deadlock without other goroutines
	case "wait":
		fmt.Println("ready")
		time.Sleep(time.Hour) // sleep: until it is killed
	case "flags": // is the standard output an ordinary, blocking file?
		flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, 1, syscall.F_GETFL, 0)
		fmt.Println("nonblocking", flags&syscall.O_NONBLOCK != 0)
	case "absent": // rank 1 never joins
		if os.Getenv(boot.EnvRank) == "1" {
			time.Sleep(time.Hour) // sleep: until it is killed
		}
		return playWithBoot(role)
	default:
		return playWithBoot(role)
	}
	return 0
}

// playWithBoot are the roles that talk to the launcher.
func playWithBoot(role string) int {
	credentials, _ := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", supervise.BootFD))
	s, err := boot.FromEnvironment(context.Background(), nil, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	info := s.Info()
	switch role {
	case "exchange":
		err := s.Put("name", fmt.Appendf(nil, "%s of rank %d", os.Args[1], info.Rank))
		values := make([][]byte, info.Size)
		for r := range values {
			if err == nil {
				values[r], err = s.Get(ctx, base.Rank(r), "name")
			}
		}
		err = errors.Join(err, s.Fence(ctx, "end", ""))
		fmt.Printf("%q %v\n", values, err)
		s.Close()
	case "secretive": // tells all that nobody else may know, to its launcher and its peers
		err := s.Put("name", []byte(os.Getenv("WIRETAP_SECRET")))
		for r := range info.Size {
			if err == nil {
				_, err = s.Get(ctx, base.Rank(r), "name")
			}
		}
		fmt.Printf("%q %v\n", credentials, err)
		bufio.NewReader(os.Stdin).ReadString('\n') // rank 0 goes on when it is told to
		fmt.Println(s.Fence(ctx, "end", ""))
		s.Close()
	case "left": // rank 0 ends; the others learn that it left normally
		if info.Rank != 0 {
			fmt.Printf("%+v\n", <-s.Failures())
		}
	case "dies": // rank 1 fails; the others learn of it and go on
		if info.Rank == 1 {
			return 7
		}
		fmt.Printf("%+v\n", <-s.Failures())
		var dead *base.RankError
		err := s.Fence(ctx, "late", "")
		fmt.Println(errors.As(err, &dead), err)
	case "mourns": // rank 0 learns in which order all others are killed
		fmt.Println("pid", os.Getpid())
		if info.Rank != 0 {
			<-ctx.Done()
		}
		for range info.Size - 1 {
			fmt.Println("gone", (<-s.Failures()).Rank)
		}
	case "stops": // rank 1 stops; rank 0 learns what became of it
		if info.Rank == 1 {
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		fmt.Printf("%+v\n", <-s.Failures())
	case "survives": // host b, with two ranks, is lost; the others learn of it
		fmt.Println("rank pid", os.Getpid())
		if info.Host == "1" {
			<-ctx.Done()
		}
		fmt.Printf("%+v\n", <-s.Failures())
		fmt.Printf("%+v\n", <-s.Failures())
	case "absent":
		if err := s.Fence(context.Background(), "all", ""); err != nil {
			fmt.Println(err)
			return 1
		}
	case "kills": // rank 0 has rank 1 killed
		if info.Rank != 0 {
			<-ctx.Done()
		}
		fmt.Println(s.Kill(ctx, 1), s.Kill(ctx, 0) != nil)
	}
	return 0
}

// A capture is a place for output that many goroutines write to.
type capture struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen func(string) // called with everything so far after each write; may be nil
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(p)
	if c.seen != nil {
		c.seen(c.text.String())
	}
	return len(p), nil
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// An outcome is everything that a finished job has shown.
type outcome struct {
	Result
	stdout, stderr, notice string
}

// runJob runs cfg with its output captured. A job that hangs fails the test.
func runJob(t *testing.T, cfg Config) (outcome, error) {
	t.Helper()
	var stdout, stderr capture
	var o outcome
	if cfg.Stdout == nil {
		cfg.Stdout = &stdout
	}
	cfg.Stderr = &stderr
	cfg.Notice = func(s string) { o.notice += s + "\n" }
	cfg.Log = func(line string) {
		if strings.Contains(line, "DATA RACE") || strings.Contains(line, "panic:") {
			t.Errorf("an agent says: %s", line)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	result, err := Run(ctx, cfg)
	if ctx.Err() != nil {
		t.Fatalf("the job was still running after 30 s: %+v\n%s%s", result, &stdout, &stderr)
	}
	o.Result, o.stdout, o.stderr = result, stdout.String(), stderr.String()
	return o, err
}

// role is a job of this test binary.
func role(name string, ranks int, args ...string) Config {
	return Config{Program: "/proc/self/exe", Args: args, Ranks: ranks, Env: []string{roleEnv + "=" + name}}
}

// shell is a job of a shell script.
func shell(ranks int, script string) Config {
	return Config{Program: "sh", Args: []string{"-c", script}, Ranks: ranks}
}

// linesOf returns the lines of text that rank r printed, without their label.
func linesOf(text string, r int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, fmt.Sprintf("[%d] ", r)); ok {
			lines = append(lines, strings.TrimSuffix(rest, "\n"))
		}
	}
	return lines
}

// number reads one that a rank has printed.
func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
