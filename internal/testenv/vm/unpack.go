package vm

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// A fileTree collects the files of packages.
type fileTree struct {
	archive *cpioWriter // the files that the guest sees
	modules moduleSet   // those that may matter
	kernel  string      // the path to write the kernel to
	found   bool        // it was
}

// unpack adds the files of one package, as far as the guest needs them.
func (t *fileTree) unpack(ctx context.Context, deb string) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := t.read(tar.NewReader(stdout))
	if readErr == nil {
		_, readErr = io.Copy(io.Discard, stdout) // the padding after the last file
	}
	stdout.Close()
	if err := cmd.Wait(); err != nil && readErr == nil {
		readErr = fmt.Errorf("dpkg-deb: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	if readErr != nil {
		return fmt.Errorf("package %s: %w", path.Base(deb), readErr)
	}
	return nil
}

func (t *fileTree) read(r *tar.Reader) error {
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.add(h, r); err != nil {
			return err
		}
	}
}

// add takes one file.
func (t *fileTree) add(h *tar.Header, data io.Reader) error {
	name := place(h.Name)
	switch {
	case strings.HasPrefix(name, "boot/vmlinuz-"):
		t.found = true
		return writeFile(t.kernel, data)
	case strings.HasPrefix(name, "usr/lib/modules/"):
		if !mayMatter(name) {
			return nil
		}
		content, err := io.ReadAll(data)
		if err != nil {
			return err
		}
		return t.modules.add(name, content)
	case leftOut(name):
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return t.archive.Folder(name)
	case tar.TypeReg:
		if err := t.archive.File(name, h.FileInfo().Mode(), data, h.Size); err != nil {
			return err
		}
		if strings.HasPrefix(name, psm) {
			return t.archive.Link("usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1", "/"+name)
		}
		return nil
	case tar.TypeSymlink:
		return t.archive.Link(name, h.Linkname)
	case tar.TypeLink:
		return t.archive.Link(name, "/"+place(h.Linkname))
	}
	return fmt.Errorf("%s is of type %q, want a file, a folder or a link", name, h.Typeflag)
}

// psm begins the path of a library that libfabric needs to start at all. Debian
// installs the link to it by a script of the package, and no script is run here.
const psm = "usr/lib/libpsm1/libpsm_infinipath.so.1."

// merged are the folders that are links to those of the same name in /usr.
// Packages use both names for one folder.
var merged = []string{"bin", "sbin", "lib", "lib64"}

// place returns where a file of a package goes, without a leading slash.
func place(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(merged, first) {
		return "usr/" + name
	}
	return name
}

// leftOut tells whether the guest can do without a file: documentation, and
// tables for other languages and character sets.
func leftOut(name string) bool {
	for _, folder := range []string{"usr/share/", "var/", "boot/", "usr/lib/x86_64-linux-gnu/gconv/", "usr/lib/locale/"} {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return name == ""
}

// writeFile writes what is left of r to a new file.
func writeFile(name string, r io.Reader) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
