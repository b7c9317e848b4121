package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// readyLimit is how long daemons may take to come up on a machine that is busy.
const readyLimit = 60 * time.Second

// sshdConfig lets root in by key alone, with the key exchange that costs least. ClientAlive would end sessions of a host
// that is cut off; without it, what runs there has to notice by itself.
const sshdConfig = `
ListenAddress 0.0.0.0
ListenAddress ::
Port 22
HostKey %[1]s/host_key
AuthorizedKeysFile %[1]s/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 200
UseDNS no
KexAlgorithms curve25519-sha256
SetEnv HOME=%[2]s
`

// SSH starts an sshd on every host, on the first call, and returns the command
// line of an ssh client that gets there: "ssh -F FILE". Hosts are known by name;
// keys and configuration are the cluster's own.
func (c *Cluster) SSH() string {
	c.t.Helper()
	if c.ssh != "" {
		return c.ssh
	}
	if err := c.startSSH(); err != nil {
		c.t.Fatalf("sshd: %v", err)
	}
	return c.ssh
}

func (c *Cluster) startSSH() error {
	dir := c.file("ssh")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, key := range []string{"host_key", "user_key"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", dir+"/"+key).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	if err := os.WriteFile(dir+"/sshd_config", fmt.Appendf(nil, sshdConfig, dir, home), 0o600); err != nil {
		return err
	}
	public, err := os.ReadFile(dir + "/host_key.pub")
	if err != nil {
		return err
	}
	known, config := "", ""
	for _, h := range c.all() {
		known += fmt.Sprintf("%s,%s,%s %s", h.Name, h.IPv4, h.IPv6, public)
		config += fmt.Sprintf("Host %s\n  HostName %s\n", h.Name, h.IPv4)
	}
	config += fmt.Sprintf("Host *\n  User root\n  IdentityFile %[1]s/user_key\n  IdentitiesOnly yes\n  UserKnownHostsFile %[1]s/known_hosts\n"+
		"  StrictHostKeyChecking yes\n  BatchMode yes\n  LogLevel ERROR\n", dir)
	for name, text := range map[string]string{"known_hosts": known, "config": config} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	sshd, err := exec.LookPath("sshd") // it insists on a full path
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	for _, h := range c.all() {
		if _, err := h.Exec(ctx, "mkdir", "-p", "-m", "755", "/run/sshd"); err != nil {
			return err
		}
		if err := h.serve("sshd-"+h.Name+".log", sshd, "-D", "-e", "-f", dir+"/sshd_config"); err != nil {
			return err
		}
	}
	c.ssh = "ssh -F " + dir + "/config"
	words := strings.Fields(c.ssh)
	for _, h := range c.all() {
		err := await(ctx, func() error {
			_, err := c.head.Exec(ctx, words[0], append(words[1:], h.Name, "true")...)
			return err
		})
		if err != nil {
			return fmt.Errorf("host %s: %w: %s", h.Name, err, c.logOf("sshd-"+h.Name+".log"))
		}
	}
	return c.settle()
}
