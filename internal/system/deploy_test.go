package system

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// image builds what deploy/Dockerfile describes into a folder: it runs the commands of the
// first stage here, and takes the files that the second one copies. It refuses instructions
// that it does not know. The user is that of the image.
func image(t *testing.T, dir string) (user string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	from := ""
	for _, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || word == "#" || line == "#":
		case word == "FROM":
			from = rest
		case word == "ARG":
			args = append(args, rest)
		case word == "RUN" && strings.HasPrefix(from, "golang:"):
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(rest, "/image/", dir+"/"))
			cmd.Dir, cmd.Env = "../..", append(os.Environ(), args...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
		case word == "USER" && from == "scratch":
			user = rest
		case line == "WORKDIR /src", line == "COPY go.mod go.sum ./", line == "COPY . .", // the repository, which is here
			line == "COPY --from=build /image/ /", line == `ENTRYPOINT ["/program"]`:
		default:
			t.Fatalf("deploy/Dockerfile: an instruction that this test does not know: %s", line)
		}
	}
	return user
}

// pod runs a command as a kubelet does: as process 1, in an image that cannot be written to,
// as a user of its own, with a Secret, the names that the cluster knows, and an environment
// that is given.
const pod = `set -e
root=$0 secret=$1 path=$2; shift 2
mount --bind "$root" "$root"
mount --bind /dev/null "$root/dev/null"
mount -t proc proc "$root/proc"
mount --bind /etc/hosts "$root/etc/hosts"
mount --bind "$secret" "$root$path"
mount -o remount,bind,ro "$root"
shift
exec env -i "$@"`

// TestDeployKubernetes starts pods as the manifests say, on hosts that are namespaces.
func TestDeployKubernetes(t *testing.T) {
	t.Parallel()
	gate(t)
	testenv.Need(t, "unshare", "chroot")
	chroot, err := exec.LookPath("chroot")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, 4)
	root := filepath.Join(s.Dir(), "image")
	user := image(t, root)
	for _, file := range manifests {
		t.Run(file, func(t *testing.T) {
			d := readDeployment(t, file)
			spec := d.job.Template.Spec
			c, security := spec.Containers[0], spec.SecurityContext
			if want := fmt.Sprintf("%d:%d", security.RunAsUser, security.RunAsGroup); user != want {
				t.Errorf("the image is for user %s, the pod for %s", user, want)
			}
			secret := s.secret(t, file, spec)
			s.pretendNames(t, d.names)
			for _, path := range []string{"dev", "proc", "etc", c.VolumeMounts[0].MountPath} {
				makeDir(t, filepath.Join(root, path))
			}
			for _, path := range []string{"dev/null", "etc/hosts"} {
				writeFile(t, filepath.Join(root, path), "", 0o644)
			}
			var jobs []*job
			for i, h := range s.Hosts()[:d.job.Completions] {
				args := append([]string{"--mount", "--pid", "--fork", "--kill-child", "sh", "-c", pod, root, secret, c.VolumeMounts[0].MountPath, "--"}, d.environment(t, i)...)
				args = append(args, chroot, "--userspec="+user, fmt.Sprint("--groups=", security.FSGroup), root)
				jobs = append(jobs, start(t, h, nil, "unshare", append(args, c.Command...)...))
			}
			var out string
			for _, j := range jobs {
				if code := j.wait(); code != 0 || j.stderr.complaints() != "" {
					t.Errorf("exit code %d\n%v", code, j)
				}
				out += j.stdout.String()
			}
			ranks := d.ranks(t)
			checkRing(t, d.job.Completions*ranks, ranks > 1, out)
			s.clean(t)
		})
	}
}

// secret makes the folder that Kubernetes mounts for the Secret of a pod: its files are
// root's, and readable by the pod's group.
func (s *site) secret(t *testing.T, name string, spec podSpec) string {
	t.Helper()
	dir := filepath.Join(s.Dir(), "secret-"+name)
	makeDir(t, dir)
	key := filepath.Join(dir, "key")
	writeFile(t, key, strings.Repeat("5c", 32), os.FileMode(spec.Volumes[0].Secret.DefaultMode))
	if err := os.Chown(key, 0, spec.SecurityContext.FSGroup); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pretendNames makes each host the pod of its place.
func (s *site) pretendNames(t *testing.T, names []string) {
	t.Helper()
	hosts, err := os.OpenFile(filepath.Join(s.Dir(), "hosts"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hosts.Close()
	for i, h := range s.Hosts()[:len(names)] {
		if _, err := fmt.Fprintf(hosts, "%s %s\n", h.IPv4, names[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func makeDir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestDeploySlurm submits the batch scripts as they are.
func TestDeploySlurm(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, "quickstart")
	s.StartSlurm()
	for _, c := range []struct {
		script   string
		labelled bool
	}{{"srun.sbatch", false}, {"gaspi-run.sbatch", true}} {
		t.Run(c.script, func(t *testing.T) {
			script := filepath.Join(s.Dir(), c.script)
			text, err := os.ReadFile(filepath.Join("../../deploy/slurm", c.script))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, script, string(text), 0o755)
			path := []string{"PATH=" + s.bin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
			j := start(t, s.Head(), path, "sbatch", "--quiet", "--wait", "--output="+c.script+".out", script, s.program("quickstart"))
			code := j.wait()
			out, err := os.ReadFile(script + ".out")
			if code != 0 || err != nil {
				t.Fatalf("exit code %d, %v\n%v\n%s", code, err, j, out)
			}
			checkRing(t, 8, c.labelled, string(out))
			s.clean(t)
		})
	}
}
