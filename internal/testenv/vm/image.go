package vm

import (
	"context"
	"crypto/sha256"
	_ "embed" // for init.sh
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

//go:embed init.sh
var initScript string

// layout is part of what an image is known by. Raise it when the code that builds
// images changes what is in them.
const layout = 3

// An image is what all jobs boot: files in the cache, never written again.
type image struct {
	kernel string // the path of the kernel
	base   string // the path of a cpio archive, to which a job appends its own
}

// openImage returns the image of the newest packages that apt knows. It builds it,
// which takes 15 s, unless that was done before. The folder is a cache: it can
// be removed while nobody uses it.
func openImage(ctx context.Context, dir string) (*image, error) {
	unlock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	files, err := fetch(ctx, filepath.Join(dir, "packages"))
	if err != nil {
		return nil, err
	}
	key := imageKey(files)
	done := filepath.Join(dir, "image-"+key)
	img := &image{kernel: filepath.Join(done, "vmlinuz"), base: filepath.Join(done, "base.cpio")}
	if _, err := os.Stat(done); err == nil {
		return img, nil
	}
	old, err := filepath.Glob(filepath.Join(dir, "image-*"))
	for _, o := range old {
		err = errors.Join(err, os.RemoveAll(o))
	}
	if err != nil {
		return nil, err
	}
	part := filepath.Join(dir, "image-part") // goes with the next attempt, if this one ends here
	if err := os.Mkdir(part, 0o755); err != nil {
		return nil, err
	}
	if err := build(ctx, part, files); err != nil {
		return nil, err
	}
	return img, os.Rename(part, done)
}

// imageKey names what an image is made of: the files' names contain versions.
func imageKey(files []string) string {
	h := sha256.New()
	fmt.Fprintln(h, layout, modules, initScript)
	for _, f := range files {
		fmt.Fprintln(h, filepath.Base(f))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// lock keeps other processes from building in the same folder, which it makes. It
// waits for them.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

// build writes kernel and archive to a folder.
func build(ctx context.Context, dir string, debs []string) error {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	if err := fill(ctx, root, filepath.Join(dir, "vmlinuz"), debs); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "base.cpio"))
	if err != nil {
		return err
	}
	return errors.Join(writeArchive(f, root), f.Close(), os.RemoveAll(root))
}

// fill makes the guest's files below root, and writes the kernel to a file.
func fill(ctx context.Context, root, kernel string, debs []string) error {
	if err := makeFolders(root); err != nil {
		return err
	}
	for _, deb := range debs {
		if err := unpack(ctx, root, deb); err != nil {
			return err
		}
	}
	compressed, err := only(root, "boot/vmlinuz-*")
	if err != nil {
		return err
	}
	if err := os.Rename(compressed, kernel); err != nil {
		return err
	}
	if err := decompressKernel(ctx, kernel); err != nil {
		return err
	}
	if err := keepModules(root); err != nil {
		return err
	}
	return errors.Join(trim(root), os.WriteFile(filepath.Join(root, "init"), []byte(initScript), 0o755))
}
