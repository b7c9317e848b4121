package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// A Host is a machine of the cluster as far as programs can tell: a name, a
// network, processes, and /tmp, /var/tmp, /run and /dev/shm of its own.
type Host struct {
	Name       string // "head", "h1", "h2" and so on
	Index      int    // 0 for the head
	IPv4, IPv6 netip.Addr

	cluster  *Cluster
	init     *exec.Cmd      // its first process; the host ends with it
	life     io.WriteCloser // its standard input; it ends when this closes
	hello    *bufio.Reader  // its standard output
	noise    bytes.Buffer   // its standard error; complete once it has ended
	settled  map[int]bool   // process numbers, outside, of what belongs to the host itself
	services []*exec.Cmd
}

// headNumber ends the addresses of the head.
const headNumber = 254

func newHost(c *Cluster, index int) *Host {
	name, number := "head", byte(headNumber)
	if index > 0 {
		name, number = "h"+strconv.Itoa(index), byte(index)
	}
	return &Host{
		Name: name, Index: index, cluster: c,
		IPv4: netip.AddrFrom4([4]byte{10, 88, 0, number}),
		IPv6: netip.AddrFrom16([16]byte{0xfd, 0x88, 15: number}),
	}
}

// initScript is the first process of a host: it reaps what loses its parent, and
// ends when the test does, because its standard input then ends. The shared
// folder may be below a folder that is private, so a new one is prepared elsewhere.
const initScript = `
name=$1 dir=$2
set -e
mount --make-rprivate /
mount -t proc proc /proc
for private in /run /dev/shm /var/tmp /tmp; do
	case $dir in
	$private/*)
		mount -t tmpfs -o mode=1777 tmpfs /mnt
		mkdir -p "/mnt/${dir#$private/}"
		mount --bind "$dir" "/mnt/${dir#$private/}"
		mount --move /mnt $private;;
	*)	mount -t tmpfs -o mode=1777 tmpfs $private;;
	esac
done
mount --bind "$dir/hosts" /etc/hosts
echo "$name" >/proc/sys/kernel/hostname
ip link set lo up
exec 3<&0
cat <&3 >/dev/null &
echo ready
wait $!
`

// boot starts the host. Only awaitBoot says whether it came up.
func (h *Host) boot() error {
	h.init = exec.Command("sh", "-c", initScript, h.Name+"-init", h.Name, h.cluster.dir)
	h.init.Dir = "/"
	h.init.Env = environment()
	h.init.Stderr = &h.noise
	h.init.SysProcAttr = &syscall.SysProcAttr{}
	err := process.OwnHost(h.init.SysProcAttr)
	if err != nil {
		return err
	}
	if h.life, err = h.init.StdinPipe(); err != nil {
		return err
	}
	out, err := h.init.StdoutPipe()
	if err != nil {
		return err
	}
	h.hello = bufio.NewReader(out)
	return h.init.Start()
}

func (h *Host) awaitBoot() error {
	if line, err := h.hello.ReadString('\n'); err != nil {
		h.shutDown()
		return fmt.Errorf("did not come up: %q %v %s", line, err, h.noise.String())
	}
	return nil
}

// shutDown ends the host and all that runs on it.
func (h *Host) shutDown() {
	if h.init == nil || h.init.Process == nil || h.init.ProcessState != nil {
		return
	}
	h.life.Close()
	h.init.Process.Kill() // and with the first process the system kills all others
	h.init.Wait()
	for _, s := range h.services {
		s.Wait()
	}
}

// home is the home of everyone on a host: a folder of its own that every host has.
const home = "/tmp"

// environment is what programs on a host start with, whatever the test has.
func environment() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + home, "LANG=C.UTF-8"}
}

// Command returns a command that runs on the host, in the shared folder and with
// a small environment of its own (cmd.Env may be added to). When ctx ends it is
// killed. cmd.Process is a helper's: use Signal.
func (h *Host) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	enter := []string{
		"--target", strconv.Itoa(h.init.Process.Pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--",
		"env", "-C", h.cluster.dir, "setpriv", "--pdeathsig", "KILL", name,
	}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	cmd.Env = environment()
	if h.cluster.slurm {
		cmd.Env = append(cmd.Env, "SLURM_CONF="+h.cluster.file("slurm.conf"))
	}
	cmd.WaitDelay = 5 * time.Second // for what it has started and left behind with its output
	return cmd
}

// Exec runs a command on the host and returns what it printed.
func (h *Host) Exec(ctx context.Context, name string, args ...string) (string, error) {
	out, err := h.Command(ctx, name, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s on %s: %w", name, h.Name, err)
	}
	return string(out), err
}

// Signal sends a signal to what a command that was started on a host has become.
func Signal(cmd *exec.Cmd, sig syscall.Signal) error {
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); time.Sleep(time.Millisecond) { // sleep: the system has no event for a new child
		if child := childOf(cmd.Process.Pid); child != 0 {
			return syscall.Kill(child, sig)
		}
		if syscall.Kill(cmd.Process.Pid, 0) != nil {
			break
		}
	}
	return errors.New("the command has ended, or never began")
}

// childOf returns a child of a process, or 0.
func childOf(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	fields := strings.Fields(string(text))
	if len(fields) == 0 {
		return 0
	}
	child, _ := strconv.Atoi(fields[0])
	return child
}

// serve starts a daemon that stays in the foreground and ends with the host. Its
// output goes to a file of the cluster.
func (h *Host) serve(log string, name string, args ...string) error {
	out, err := os.Create(h.cluster.file(log))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := h.Command(context.Background(), name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	h.services = append(h.services, cmd)
	return nil
}

// logOf returns the end of what a daemon wrote, for a message.
func (c *Cluster) logOf(log string) string {
	text, err := os.ReadFile(c.file(log))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}
