package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Environment variables that make a test program play a role.
const (
	roleEnv  = "GASPI_TEST_ROLE"  // its name and arguments, as an array of JSON
	untilEnv = "GASPI_TEST_UNTIL" // when its context ends, as RFC 3339 has it; not set means never
)

// A Role is what a test program does in place of its tests, in a process of its own. Its
// context ends when that of the test does which has started it.
type Role func(ctx context.Context, args []string) error

// Main is the body of TestMain. Unless the environment has an entry of AsRole, it runs the
// tests: their environment has no variable that Removes, the loopback interface is up (where
// it is down, they are in a network namespace of their own), and programs can be executed in
// directories of t.TempDir (where TMPDIR is mounted noexec, they are beside the test program).
// Processes that they start end by signals that the test program itself was started to ignore.
// m is a *testing.M, or calls one.
//
// With an entry of AsRole the process plays that role and exits, with status 1 and the error on
// standard error if the role has returned one. A role that ends with another status calls os.Exit.
func Main(m interface{ Run() int }, roles map[string]Role) {
	text, is := os.LookupEnv(roleEnv)
	if !is {
		os.Exit(run(m.Run))
	}
	if err := play(text, os.Getenv(untilEnv), roles); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play plays the role that a text names, until a time.
func play(text, until string, roles map[string]Role) error {
	var words []string
	if err := json.Unmarshal([]byte(text), &words); err != nil || len(words) == 0 {
		return fmt.Errorf(`%s=%s: expected a name and arguments such as ["name","argument"]`, roleEnv, text)
	}
	role, known := roles[words[0]]
	if !known {
		return fmt.Errorf("%s=%s: no role has this name", roleEnv, text)
	}
	ctx := context.Background()
	if until != "" {
		at, err := time.Parse(time.RFC3339Nano, until)
		if err != nil {
			return fmt.Errorf("%s: %w", untilEnv, err)
		}
		limited, cancel := context.WithDeadline(ctx, at)
		defer cancel()
		ctx = limited
	}
	return role(ctx, words[1:])
}

// AsRole returns the entry of the environment that makes a process of this test program play
// a role. Its context does not end.
func AsRole(name string, args ...string) string {
	text, err := json.Marshal(append([]string{name}, args...))
	if err != nil {
		panic("testenv: strings cannot be marshalled: " + err.Error())
	}
	return roleEnv + "=" + string(text)
}

// Until returns the entry of the environment with which the context of a role ends after a
// time from now.
func Until(limit time.Duration) string {
	return untilEnv + "=" + time.Now().Add(limit).Format(time.RFC3339Nano)
}

// Command returns a command that starts this test program as a role, in the environment of the
// test. It is killed when ctx ends; the context of the role has the deadline of ctx. The command
// line has no arguments: those of a Program are appended to Args.
func Command(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), AsRole(role, args...))
	if at, is := ctx.Deadline(); is {
		cmd.Env = append(cmd.Env, Until(time.Until(at)))
	}
	return cmd
}

// Program returns a role that is the program itself. It reads the command line.
func Program(main func()) Role {
	return func(context.Context, []string) error {
		main()
		return nil
	}
}
