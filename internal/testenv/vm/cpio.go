package vm

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// A cpioWriter writes an archive of the kind that the kernel unpacks into its
// first file system: "newc" of cpio, without checksums. Archives may be appended
// to each other. Every method may return an error of the writer below; then the
// archive is of no use.
type cpioWriter struct {
	w     io.Writer
	inode uint32
	known map[string]bool // folders written so far
}

func newCPIO(w io.Writer) *cpioWriter {
	return &cpioWriter{w: w, known: map[string]bool{".": true, "/": true}}
}

// Types of file in the mode field of an archive.
const (
	cpioFolder = 0o040000
	cpioFile   = 0o100000
	cpioLink   = 0o120000
)

// maxCPIOFile is what fits into the size field.
const maxCPIOFile = 1<<32 - 1

// Folder adds a folder and those above it, unless they were added before.
func (c *cpioWriter) Folder(name string) error {
	if c.known[name] {
		return nil
	}
	if err := c.Folder(path.Dir(name)); err != nil {
		return err
	}
	c.known[name] = true
	return c.entry(name, cpioFolder|0o755, nil, 0)
}

// File adds a file of that size, in bytes, and the folders above it.
func (c *cpioWriter) File(name string, perm fs.FileMode, data io.Reader, size int64) error {
	return c.leaf(name, cpioFile|uint32(perm.Perm()), data, size)
}

// Link adds a symbolic link and the folders above it.
func (c *cpioWriter) Link(name, target string) error {
	return c.leaf(name, cpioLink|0o777, strings.NewReader(target), int64(len(target)))
}

// Close ends the archive. It does not close the writer below.
func (c *cpioWriter) Close() error { return c.entry("TRAILER!!!", 0, nil, 0) }

func (c *cpioWriter) leaf(name string, mode uint32, data io.Reader, size int64) error {
	if err := c.Folder(path.Dir(name)); err != nil {
		return err
	}
	return c.entry(name, mode, data, size)
}

// entry writes
//
//	| "070701", 13 fields of 8 hex digits | name, 0 | pad to 4 | data | pad to 4 |
func (c *cpioWriter) entry(name string, mode uint32, data io.Reader, size int64) error {
	if size > maxCPIOFile {
		return fmt.Errorf("%s has %d bytes, and a cpio archive has room for files of less than 4 GiB", name, size)
	}
	c.inode++
	fields := []uint32{
		c.inode, mode, 0, 0, 1, 0, // inode, mode, user, group, links, time
		uint32(size), 0, 0, 0, 0, uint32(len(name) + 1), 0, // size, devices, length of name, checksum
	}
	head := "070701"
	for _, f := range fields {
		head += fmt.Sprintf("%08X", f)
	}
	head += name + "\x00"
	if _, err := io.WriteString(c.w, head+padding(len(head))); err != nil {
		return err
	}
	if size == 0 {
		return nil
	}
	if n, err := io.CopyN(c.w, data, size); err != nil {
		return fmt.Errorf("%s ended after %d of %d bytes: %w", name, n, size, err)
	}
	_, err := io.WriteString(c.w, padding(int(size&3)))
	return err
}

// padding returns the zeros that make n bytes a multiple of 4.
func padding(n int) string { return "\x00\x00\x00"[:(4-n&3)&3] }
