package executable

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// ErrNotFound says that there is no such program, ErrNotExecutable that it is a file that cannot
// be executed, and ErrNoDirectory that the directory to start ranks in is not there. They are
// the kinds of a supervise.StartError.
var (
	ErrNotFound      = errors.New("no such program")
	ErrNotExecutable = errors.New("not executable")
	ErrNoDirectory   = errors.New("no such directory")
)

// unfit is the error of a program that is there and cannot be executed for this reason.
func unfit(title, format string, args ...any) error {
	return &supervise.StartError{Kind: ErrNotExecutable, Sentence: fmt.Sprintf("%s: %v: %s", title, ErrNotExecutable, fmt.Sprintf(format, args...))}
}

// maxFirstLine bounds what the system reads of the first line of a script.
const maxFirstLine = 256

// checkWhole refuses an ELF file that ends before its last segment does: the system
// would start it, and a signal would end it. Other files are left to the system to judge; a
// file that cannot be read may still be executable.
func checkWhole(path, title string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && isCut(f, uint64(info.Size())) {
		return cutOff(title)
	}
	return nil
}

// isCut reports whether segments of a 64-bit ELF file lie beyond its size. Package
// debug/elf would also insist on sections, which a program need not have.
func isCut(f io.ReaderAt, size uint64) bool {
	read := func(offset uint64, v any) bool {
		return binary.Read(io.NewSectionReader(f, int64(offset), int64(binary.Size(v))), binary.NativeEndian, v) == nil
	}
	var h elf.Header64
	if !read(0, &h) || string(h.Ident[:len(elf.ELFMAG)]) != elf.ELFMAG || elf.Class(h.Ident[elf.EI_CLASS]) != elf.ELFCLASS64 {
		return false
	}
	for i := range uint64(h.Phnum) {
		var p elf.Prog64
		if h.Phoff > size || !read(h.Phoff+i*uint64(h.Phentsize), &p) {
			return false // the system refuses it
		}
		if elf.ProgType(p.Type) == elf.PT_LOAD && (p.Off > size || p.Filesz > size-p.Off) {
			return true
		}
	}
	return false
}

func cutOff(title string) error {
	return unfit(title, "it is an ELF file that is cut off or damaged; copy or build it again")
}

// checkELF says what keeps an ELF file from being executed here, or returns nil.
func checkELF(f *os.File, title string) error {
	file, err := elf.NewFile(f)
	if err != nil {
		return cutOff(title)
	}
	if own, err := elf.Open("/proc/self/exe"); err == nil {
		defer own.Close()
		if file.Machine != own.Machine || file.Class != own.Class {
			return unfit(title, "it is built for %s, and this host is %s; build it for this one", machine(file), machine(own))
		}
	}
	if file.Type != elf.ET_EXEC && file.Type != elf.ET_DYN {
		return unfit(title, "it is an ELF file of type %v and no program; link it", file.Type)
	}
	return checkLoader(file, title)
}

// machine is what an ELF file is for, in the words of the Go command where it has any.
func machine(f *elf.File) string {
	name := strings.ToLower(strings.TrimPrefix(f.Machine.String(), "EM_"))
	if word := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386"}[f.Machine]; word != "" {
		name = word
	}
	return name
}

// checkLoader says whether the program that loads a dynamic one is missing.
func checkLoader(file *elf.File, title string) error {
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		loader := make([]byte, min(p.Filesz, maxFirstLine))
		if _, err := p.ReadAt(loader, 0); err != nil {
			return unfit(title, "the name of its dynamic loader cannot be read: %v", err)
		}
		name := string(bytes.TrimRight(loader, "\x00"))
		if wrong := missing(name); wrong != "" {
			return unfit(title, "it needs the dynamic loader %s, which %s; install that, or link the program statically", name, wrong)
		}
	}
	return nil
}

// missing says what is wrong with a file that something else needs to start, as the
// end of a sentence; empty for nothing.
func missing(path string) string {
	info, err := os.Stat(path)
	switch {
	case isMissing(err):
		return "is not there"
	case err != nil:
		return "cannot be looked at (" + errors.Unwrap(err).Error() + ")"
	case info.IsDir():
		return "is a directory"
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return fmt.Sprintf("is a file of mode %v that cannot be executed", info.Mode())
	}
	return ""
}

// isMissing reports whether nothing is there by that name.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ELOOP)
}

// whyNotStarted turns what the system says about the start of a program, which the
// user calls title, in a directory into what is wrong. An error that says nothing about
// the program comes back as it is.
func whyNotStarted(err error, path, title, dir string) error {
	if info, wrong := os.Stat(dir); dir != "" && (wrong != nil || !info.IsDir()) {
		return &supervise.StartError{Kind: ErrNoDirectory, Sentence: fmt.Sprintf("%s: there is no directory %s to start it in", title, dir)}
	}
	cause, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return fmt.Errorf("%s: %w", title, err)
	}
	switch cause {
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EINTR, syscall.EPIPE:
		return fmt.Errorf("%s: %w", title, err)
	case syscall.E2BIG:
		return unfit(title, "its arguments and environment are longer than the system takes; shorten them, or pass a file")
	case syscall.ETXTBSY:
		return unfit(title, "somebody has it open for writing; start it when that has ended")
	}
	return whyUnfit(cause, path, title)
}

// whyUnfit looks at the file that the system did not execute.
func whyUnfit(cause syscall.Errno, path, title string) error {
	info, err := os.Stat(path)
	switch {
	case isMissing(err):
		return &supervise.StartError{Kind: ErrNotFound, Sentence: fmt.Sprintf("%s: %v: there is no file %s", title, ErrNotFound, path)}
	case err != nil:
		return unfit(title, "%v", errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return unfit(title, "it is a %s; name a binary, or a directory with a Go package", kindOf(info))
	case info.Mode()&0o111 == 0:
		return notMarked(title, info)
	}
	f, err := os.Open(path)
	if err != nil {
		return unfit(title, "%v; its mode is %v, and it cannot be read to see why", cause, info.Mode())
	}
	defer f.Close()
	if err := unfitContent(cause, f, title); err != nil {
		return err
	}
	if cause == syscall.EACCES || cause == syscall.EPERM {
		return unfit(title, "%v, although its mode is %v; is its file system mounted noexec, or a directory above it closed to this user?", cause, info.Mode())
	}
	return unfit(title, "%v", cause)
}

// unfitContent looks for what keeps a file from being executed in what it holds, and
// returns nil if that is fine. cause is what the system has said; 0 if it was not asked.
func unfitContent(cause syscall.Errno, f *os.File, title string) error {
	line := firstLine(f)
	switch script, isScript := bytes.CutPrefix(line, []byte("#!")); {
	case len(line) == 0:
		return unfit(title, "the file is empty; copy or build it again")
	case isScript:
		return whyNoScript(cause, string(script), title)
	case bytes.HasPrefix(line, []byte(elf.ELFMAG)):
		return checkELF(f, title)
	case cause == syscall.ENOEXEC, cause == 0:
		return unfit(title, "it is neither an ELF program nor a script; a script begins with a line such as #!/bin/sh")
	}
	return nil
}

// whyNoScript says what is wrong with what runs a script; line is what follows #! in it.
func whyNoScript(cause syscall.Errno, line, title string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	name, _, _ = strings.Cut(name, "\t")
	switch wrong := missing(name); {
	case name == "":
		return unfit(title, "its first line is #! without an interpreter; write one such as #!/bin/sh")
	case wrong != "":
		return unfit(title, "its first line names the interpreter %q, which %s; install it or correct the line", name, wrong)
	}
	if cause == 0 {
		return nil
	}
	return unfit(title, "its interpreter %q cannot be started: %v", name, cause)
}

// firstLine is the first line of a file without its end, or the beginning of it.
func firstLine(f io.ReaderAt) []byte {
	head := make([]byte, maxFirstLine)
	n, _ := f.ReadAt(head, 0) // an error is the end of the file
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return line
}

// notMarked is the error of a file without the mode of a program.
func notMarked(title string, info fs.FileInfo) error {
	return unfit(title, "it is a file with mode %v; chmod +x makes a program of it", info.Mode())
}

// kindOf names what is no regular file.
func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// Check says what would keep a file, which the user calls title, from being started, as far as its content tells.
// A host that executes other formats (binfmt_misc) takes what others do not.
func Check(path, title string) error {
	if err := checkWhole(path, title); err != nil {
		return err
	}
	if others, _ := os.ReadDir("/proc/sys/fs/binfmt_misc"); len(others) > 2 { // beside register and status
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // it may be one that can only be executed
	}
	defer f.Close()
	return unfitContent(0, f, title)
}
