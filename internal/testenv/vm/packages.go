package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages are what the guest is made of, besides what they depend on: a kernel,
// a shell, the commands ip and rdma, the user space of verbs, and libfabric. The
// programs of ibverbs-utils and libfabric-bin tell a broken guest from a broken
// transport.
var packages = []string{
	"linux-image-amd64", "busybox-static", "iproute2",
	"libibverbs1", "ibverbs-providers", "ibverbs-utils", "librdmacm1",
	"libfabric1", "libfabric-bin",
}

// present is apt's record of a system on which one package is installed, which
// stands for all that the packages above ask for and a guest that is never
// installed to does not need: tools for booting from disks, and for settings.
const present = `Package: nothing
Status: install ok installed
Maintainer: nobody
Architecture: all
Version: 1
Provides: adduser (= 999), debconf (= 999), initramfs-tools (= 999), kmod (= 999), libcap2-bin (= 999), libtirpc3 (= 999), linux-base (= 999)
Description: takes the place of packages that the guest does not need

`

// fetch downloads the packages and what they depend on to a folder, and returns
// the paths of the files. Packages that are there already are not downloaded again; apt checks
// downloads against the signatures of the sources it is configured with. Nothing is installed,
// and apt's own state stays as it is.
func fetch(ctx context.Context, dir string) ([]string, error) {
	// apt-get lists only what it would download, so it is shown an empty cache.
	empty := filepath.Join(dir, "empty")
	for _, cache := range []string{dir, empty} {
		if err := os.MkdirAll(filepath.Join(cache, "partial"), 0o755); err != nil {
			return nil, err
		}
	}
	status := filepath.Join(dir, "status")
	if err := os.WriteFile(status, []byte(present), 0o644); err != nil {
		return nil, err
	}
	list, err := install(ctx, status, empty, "--print-uris")
	if err != nil {
		return nil, fmt.Errorf("apt-get does not know all packages of the guest (%w): this needs a Debian system on which apt-get update has run", err)
	}
	var files []string
	for _, name := range listed(list) {
		files = append(files, filepath.Join(dir, name))
	}
	missing := func(file string) bool { _, err := os.Stat(file); return err != nil }
	if !slices.ContainsFunc(files, missing) {
		return files, nil
	}
	if _, err := install(ctx, status, dir, "--download-only"); err != nil {
		return nil, fmt.Errorf("apt-get cannot download the packages of the guest (%w): connect to the network, or run apt-get update if the packages were replaced", err)
	}
	return files, prune(dir, files)
}

// install has apt-get pretend to install the packages on a system with that
// record, with a folder that has packages already, and returns what it prints.
func install(ctx context.Context, status, archives, how string) (string, error) {
	args := []string{
		"-qq", "-y", how, "--no-install-recommends",
		"-o", "Dir::State::status=" + status,
		"-o", "Dir::Cache::archives=" + archives,
		"-o", "Debug::NoLocking=1", // the locks are those of the system's own state, which is not touched
		"install",
	}
	cmd := exec.CommandContext(ctx, "apt-get", append(args, packages...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", firstError(stderr.String(), err)
	}
	return stdout.String(), nil
}

// listed returns the names of the files in what apt-get --print-uris prints: lines
// of URI in quotes, name, size, and sometimes a checksum.
func listed(uris string) []string {
	var names []string
	for line := range strings.Lines(uris) {
		if fields := strings.Fields(line); len(fields) >= 3 && strings.HasPrefix(line, "'") {
			names = append(names, fields[1])
		}
	}
	return names
}

// firstError returns the first error that apt-get reported, or err.
func firstError(stderr string, err error) error {
	for line := range strings.Lines(stderr) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), "E: "); is {
			return errors.New(text)
		}
	}
	return err
}

// prune removes the packages that are not among files: older versions.
func prune(dir string, files []string) error {
	old, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	for _, f := range old {
		if !slices.Contains(files, f) {
			err = errors.Join(err, os.Remove(f))
		}
	}
	return err
}
