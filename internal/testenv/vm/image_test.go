package vm

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModuleOrder(t *testing.T) {
	set := moduleSet{
		"rdma_rxe":  {needs: []string{"ib_uverbs", "ib_core", "udp_tunnel"}},
		"ib_uverbs": {needs: []string{"ib_core"}},
		"ib_core":   {}, "udp_tunnel": {}, "veth": {},
		"broken": {needs: []string{"veth", "absent"}},
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
		{"absent", []string{"nobody"}, nil, "the kernel package has no module nobody"},
		{"needs what is absent", []string{"broken"}, nil, "no module absent, which broken needs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := set.order(c.wanted)
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

func TestMayMatter(t *testing.T) {
	const head = "usr/lib/modules/6.1.0-1-amd64/kernel/"
	for name, want := range map[string]bool{
		head + "drivers/infiniband/sw/rxe/rdma_rxe.ko": true,
		head + "drivers/net/veth.ko":                   true,
		head + "drivers/net/ethernet/x/y.ko":           false,
		head + "net/ipv4/udp_tunnel.ko":                true,
		head + "net/README":                            false,
		"usr/lib/modules/6.1.0-1-amd64/modules.order":  false,
	} {
		if got := mayMatter(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	for name, want := range map[string]string{
		"./":                    "",
		"./lib64/ld.so":         "usr/lib64/ld.so",
		"./bin/ip":              "usr/bin/ip",
		"usr/bin/ip":            "usr/bin/ip",
		"./etc/lib/x":           "etc/lib/x",
		"./binary":              "binary",
		"./../../outside":       "outside",
		"./lib/modules/6.1/a.k": "usr/lib/modules/6.1/a.k",
	} {
		if got := place(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
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

// TestTreeTakesFiles feeds a made-up package to a tree.
func TestTreeTakesFiles(t *testing.T) {
	var deb, archive bytes.Buffer
	w := tar.NewWriter(&deb)
	for _, h := range []tar.Header{
		{Name: "./boot/vmlinuz-6", Typeflag: tar.TypeReg, Size: 6},
		{Name: "./bin/tool", Typeflag: tar.TypeReg, Size: 4, Mode: 0o755},
		{Name: "./sbin/tool", Typeflag: tar.TypeSymlink, Linkname: "/bin/tool"},
		{Name: "./usr/share/doc/tool", Typeflag: tar.TypeReg, Size: 5},
		{Name: "./lib/modules/6/kernel/sound/x.ko", Typeflag: tar.TypeReg, Size: 5},
		{Name: "./usr/lib/libpsm1/libpsm_infinipath.so.1.16", Typeflag: tar.TypeReg, Size: 3},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	tr := &fileTree{archive: newCPIO(&archive), modules: moduleSet{}, kernel: filepath.Join(t.TempDir(), "vmlinuz")}
	if err := tr.read(tar.NewReader(&deb)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(tr.kernel); err != nil || info.Size() != 6 || !tr.found {
		t.Errorf("kernel: %v, %v, want a file of 6 bytes", info, err)
	}
	for name, want := range map[string]bool{
		"usr/bin/tool\x00": true, "usr/sbin/tool\x00": true, "usr/share": false, "x.ko": false,
		"usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1\x00": true,
	} {
		if got := strings.Contains(archive.String(), name); got != want {
			t.Errorf("%q in the archive: %v, want %v", name, got, want)
		}
	}
}
