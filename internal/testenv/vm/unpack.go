package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// merged are the folders that are links to those of the same name in /usr.
// Packages use both names for one folder.
var merged = []string{"bin", "sbin", "lib", "lib64"}

// leftOut are what the guest can do without: documentation, and tables for other languages
// and character sets.
var leftOut = []string{"usr/share", "var", "boot", "usr/lib/modules", "usr/lib/x86_64-linux-gnu/gconv", "usr/lib/locale"}

// psm matches a library that libfabric needs to start at all. Debian installs the link to it
// by a script of the package, and no script is run here.
const psm = "usr/lib/libpsm1/libpsm_infinipath.so.1.*"

// makeFolders makes the folders of the guest that no package has.
func makeFolders(root string) error {
	for _, folder := range merged {
		err := errors.Join(os.MkdirAll(filepath.Join(root, "usr", folder), 0o755), os.Symlink("usr/"+folder, filepath.Join(root, folder)))
		if err != nil {
			return err
		}
	}
	for _, folder := range []string{"dev", "proc", "sys", "tmp", "modules", "job"} {
		if err := os.Mkdir(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// unpack adds the files of one package to a folder, in which links lead to folders.
func unpack(ctx context.Context, root, deb string) error {
	read := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	write := exec.CommandContext(ctx, "tar", "--extract", "--keep-directory-symlink", "--no-same-owner", "--directory="+root)
	var stderr strings.Builder
	read.Stderr, write.Stderr = &stderr, &stderr
	var err error
	if write.Stdin, err = read.StdoutPipe(); err != nil {
		return err
	}
	err = read.Start()
	if err == nil {
		err = errors.Join(write.Run(), read.Wait())
	}
	if err != nil {
		return fmt.Errorf("package %s: %w: %s", filepath.Base(deb), err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// only returns the path of the one file below root that a pattern matches.
func only(root, pattern string) (string, error) {
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("the packages have %d files %s, want one", len(found), pattern)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// trim makes the link to psm, and removes what is left out.
func trim(root string) error {
	library, err := only(root, psm)
	if err != nil {
		return err
	}
	target := strings.TrimPrefix(library, root)
	err = os.Symlink(target, filepath.Join(root, "usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1"))
	for _, folder := range leftOut {
		err = errors.Join(err, os.RemoveAll(filepath.Join(root, folder)))
	}
	return err
}
