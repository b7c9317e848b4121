package bootstrap

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestAdvice has an ssh fail with words and a status: advice follows where these leave no doubt.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		said   string
		status string
		want   string // behind "host a: "
	}{
		{"Host key verification failed.", "255", "Host key verification failed; ssh does not know the key of that host, or knows another one: run 'ssh -p 7 a true' in a terminal"},
		{"u@a: Permission denied (publickey,password).", "255", "u@a: Permission denied (publickey,password); the login must work without a question: "},
		{"ssh: connect to host a port 22: Connection refused", "255", "ssh: connect to host a port 22: Connection refused; no ssh server listens there: "},
		{"ssh: Could not resolve hostname a: Name or service not known", "255", "ssh: Could not resolve hostname a: Name or service not known; correct the name "},
		// The name may be right.
		{"ssh: Could not resolve hostname a: Temporary failure in name resolution", "255", "="},
		{"ssh: connect to host a port 22: Connection timed out", "255", "="},
		// The host has said it, not ssh.
		{"sh: 1: cannot create x: Permission denied", "255", "="},
		{"Host key verification failed.", "1", "="},
	} {
		ssh := SSH([]string{"ssh", "-p", "7"}, "a", Agent{words: []string{"gaspi-run", "agent"}})
		ssh.said.tell = func(string) {}
		ssh.said.Write([]byte("a line before\r\n" + c.said + "\r\n"))
		ssh.err = exec.Command("sh", "-c", "exit "+c.status).Run()
		if !errors.As(ssh.err, new(*exec.ExitError)) {
			t.Fatal(ssh.err)
		}
		got, all := ssh.Failure("a").Error(), c.want == "="
		want := "host a: " + strings.Replace(c.want, "=", c.said, 1)
		if !strings.HasPrefix(got, want) || all && got != want {
			t.Errorf("%q, status %s: %s\nwant %s", c.said, c.status, got, want)
		}
	}
}
