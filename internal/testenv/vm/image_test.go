package vm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

func TestLoadOrder(t *testing.T) {
	set := map[string][]string{
		"rdma_rxe":  {"ib_uverbs", "ib_core", "udp_tunnel"},
		"ib_uverbs": {"ib_core"},
		"ib_core":   nil, "udp_tunnel": nil, "veth": nil,
		"broken": {"veth", "absent"},
	}
	needs := func(name string) ([]string, error) {
		if below, found := set[name]; found {
			return below, nil
		}
		return nil, fmt.Errorf("no module %s", name)
	}
	for _, c := range []struct {
		name   string
		wanted []string
		want   []string
		err    string
	}{
		{"none", nil, nil, ""},
		{"alone", []string{"veth"}, []string{"veth"}, ""},
		{"after what it needs, once", []string{"rdma_rxe", "veth", "ib_core"}, []string{"ib_core", "ib_uverbs", "udp_tunnel", "rdma_rxe", "veth"}, ""},
		{"absent", []string{"nobody"}, nil, "no module nobody"},
		{"needs what is absent", []string{"broken"}, nil, "no module absent, which broken needs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := loadOrder(c.wanted, needs)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		name, info string
		want       []string
	}{
		{"nothing", "license=GPL\x00depends=\x00name=veth\x00", nil},
		{"some", "alias=depends=x\x00depends=ib-uverbs,ib_core\x00", []string{"ib_uverbs", "ib_core"}},
		{"no word about it", "license=GPL\x00", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, needs([]byte(c.info))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListed(t *testing.T) {
	const printed = `Reading package lists...
'http://host/pool/a_1.deb' a_1%3a2_amd64.deb 10448 MD5Sum:c1f1
'http://host/pool/b_1.deb' b_1_all.deb 3 
The following packages have unmet dependencies
`
	if diff := cmp.Diff([]string{"a_1%3a2_amd64.deb", "b_1_all.deb"}, listed(printed)); diff != "" {
		t.Error(diff)
	}
}

func TestFirstError(t *testing.T) {
	other := errors.New("exit status 100")
	for _, c := range []struct{ name, stderr, want string }{
		{"says what", "W: slow\nE: Unable to locate package x\nE: and more\n", "Unable to locate package x"},
		{"says nothing", "W: slow\n", "exit status 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := firstError(c.stderr, other).Error(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPruneKeepsWhatIsWanted(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old_1.deb", "new_2.deb", "status"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(dir, []string{filepath.Join(dir, "new_2.deb")}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{"new_2.deb", "status"}, left); diff != "" {
		t.Error(diff)
	}
}

// TestUnpack unpacks a made-up package whose files go through the links of merged folders.
func TestUnpack(t *testing.T) {
	testenv.Need(t, "dpkg-deb", "tar")
	files, root := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"DEBIAN/control": "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n",
		"bin/tool":       "tool", "boot/vmlinuz-6": "kernel", "usr/share/doc/tool": "docs",
		"usr/lib/libpsm1/libpsm_infinipath.so.1.16": "psm", "usr/lib/x86_64-linux-gnu/libx.so": "x",
	} {
		file := filepath.Join(files, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	deb := filepath.Join(t.TempDir(), "x.deb")
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--build", "--root-owner-group", files, deb).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := errors.Join(makeFolders(root), unpack(t.Context(), root, deb)); err != nil {
		t.Fatal(err)
	}
	if _, err := only(root, "boot/vmlinuz-*"); err != nil {
		t.Error(err)
	}
	if err := trim(root); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"usr/bin/tool": true, "bin/tool": true, "usr/share": false, "boot": false, "usr/lib/x86_64-linux-gnu/libx.so": true,
	} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	if to, err := os.Readlink(filepath.Join(root, "usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1")); to != "/usr/lib/libpsm1/libpsm_infinipath.so.1.16" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// TestArchive has an image and the files of a job in one archive, and unpacks that.
func TestArchive(t *testing.T) {
	testenv.Need(t, "cpio")
	dir := t.TempDir()
	program, base, initrd := filepath.Join(dir, "program"), filepath.Join(dir, "base"), filepath.Join(dir, "initrd")
	if err := errors.Join(os.WriteFile(program, []byte("12345"), 0o751), os.WriteFile(base, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := writeInitrd(initrd, base, filepath.Join(dir, "root"), Job{Script: "exit 3", Files: map[string]string{"p": program}}); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Open(initrd)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	cmd := exec.CommandContext(t.Context(), "cpio", "--extract", "--make-directories", "--quiet", "--no-preserve-owner")
	cmd.Dir, cmd.Stdin = t.TempDir(), archive
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("cpio: %v\n%s", err, out)
	}
	for name, want := range map[string]string{"job.sh": "exit 3", "p": "12345"} {
		if got, err := os.ReadFile(filepath.Join(cmd.Dir, "job", name)); string(got) != want {
			t.Errorf("%s has %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(cmd.Dir, "job/p")); err != nil || info.Mode() != 0o751 {
		t.Errorf("mode of a file: %v, %v, want 0751", info, err)
	}
}
