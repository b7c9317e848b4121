package vm

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// writeArchive writes all that is in the folder root to w, as an archive of the kind that
// the kernel unpacks into its first file system: "newc" of cpio. Archives may be appended to
// each other. Everything belongs to the guest's root. flags are more flags of cpio.
func writeArchive(w io.Writer, root string, flags ...string) error {
	var names bytes.Buffer
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		fmt.Fprintf(&names, "%s\x00", name)
		return err
	})
	if err != nil {
		return err
	}
	cmd := exec.Command("cpio", append([]string{"--create", "--format=newc", "--null", "--quiet", "--owner=+0:+0"}, flags...)...)
	var stderr strings.Builder
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, &names, w, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cpio: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}
