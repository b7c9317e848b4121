package vm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for init.sh
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

//go:embed init.sh
var initScript string

// layout is part of what an image is known by. Raise it when the code that builds
// images changes what is in them.
const layout = 2

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
	f, err := os.Create(filepath.Join(dir, "base.cpio"))
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = fill(ctx, w, filepath.Join(dir, "vmlinuz"), debs)
	return errors.Join(err, w.Flush(), f.Close())
}

// fill writes the archive to w and the kernel to a file.
func fill(ctx context.Context, w io.Writer, kernel string, debs []string) error {
	t := &fileTree{archive: newCPIO(w), modules: moduleSet{}, kernel: kernel}
	for _, folder := range merged {
		if err := t.archive.Folder("usr/" + folder); err != nil {
			return err
		}
		if err := t.archive.Link(folder, "usr/"+folder); err != nil {
			return err
		}
	}
	for _, folder := range []string{"dev", "proc", "sys", "tmp", "modules", "job"} {
		if err := t.archive.Folder(folder); err != nil {
			return err
		}
	}
	if err := t.archive.File("init", 0o755, strings.NewReader(initScript), int64(len(initScript))); err != nil {
		return err
	}
	for _, deb := range debs {
		if err := t.unpack(ctx, deb); err != nil {
			return err
		}
	}
	if !t.found {
		return errors.New("no package has a kernel boot/vmlinuz-*")
	}
	if err := decompressKernel(ctx, kernel); err != nil {
		return err
	}
	if err := t.addModules(); err != nil {
		return err
	}
	return t.archive.Close()
}

// addModules adds the modules that the guest loads. Their names begin with a
// number: the guest loads them in the order of names.
func (t *fileTree) addModules() error {
	names, err := t.modules.order(modules)
	if err != nil {
		return err
	}
	for i, name := range names {
		data := t.modules[name].data
		file := fmt.Sprintf("modules/%02d-%s.ko", i, name)
		if err := t.archive.File(file, 0o644, bytes.NewReader(data), int64(len(data))); err != nil {
			return err
		}
	}
	return nil
}
