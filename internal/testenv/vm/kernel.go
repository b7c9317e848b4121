package vm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// xzMagic begins what xz has compressed.
const xzMagic = "\xfd7zXZ\x00"

// decompressKernel replaces a kernel by what it consists of, if that is
// compressed by xz as Debian's is: an ELF file, which qemu starts directly. An
// emulated processor takes 7 s to decompress it, this one takes one. Another
// kernel stays as it is; it boots too.
func decompressKernel(ctx context.Context, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	packed, err := payload(data)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	if !bytes.HasPrefix(packed, []byte(xzMagic)) {
		return nil
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	// A single stream: the kernel's own build appends the size.
	cmd := exec.CommandContext(ctx, "xz", "--decompress", "--stdout", "--single-stream")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(packed), out, &stderr
	err = cmd.Run()
	if err != nil {
		err = fmt.Errorf("xz cannot decompress the kernel: %w %s", err, strings.TrimSpace(stderr.String()))
	}
	return errors.Join(err, out.Close())
}

// payload returns the compressed part of a kernel for x86. The offsets are those
// of the kernel's documentation, "The Linux/x86 Boot Protocol":
//
//	| 0x1f1 sectors of set-up, 1 byte | 0x202 "HdrS" | 0x248 offset, 4 bytes | 0x24c length, 4 bytes |
//
// The offset counts from the end of the set-up, which is one sector more than it says.
func payload(kernel []byte) ([]byte, error) {
	const header = 0x250
	if len(kernel) < header || string(kernel[0x202:0x206]) != "HdrS" {
		return nil, errors.New("no header of a Linux kernel for x86")
	}
	start := (uint64(kernel[0x1f1]) + 1) * 512
	start += uint64(binary.LittleEndian.Uint32(kernel[0x248:]))
	size := uint64(binary.LittleEndian.Uint32(kernel[0x24c:]))
	if start+size > uint64(len(kernel)) {
		return nil, fmt.Errorf("the header promises %d bytes, and there are %d", start+size, len(kernel))
	}
	return kernel[start : start+size], nil
}
