package hosts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// maxLine bounds a line of a file of hosts, in bytes.
const maxLine = 4096

// ReadFile reads the file of hosts at path; see ParseFile. The file is a regular one, or a
// descriptor such as /dev/fd/63 or /dev/stdin.
func ReadFile(path string) ([]Host, error) {
	// Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("file of hosts: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("file of hosts: %w", err)
	}
	inherited := path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
	if !info.Mode().IsRegular() && !inherited {
		return nil, fmt.Errorf("file of hosts %s: it is no regular file (%v); expected one with lines such as: a slots=2", path, info.Mode().Type())
	}
	return ParseFile(path, f)
}

// ParseFile reads hosts as mpirun takes them: one in a line, as "NAME",
// "NAME:SLOTS" or "NAME slots=N"; max_slots=N may follow and must not be less.
// Comments begin with #. A host that comes again gets more slots. Errors name
// path and line.
func ParseFile(path string, r io.Reader) ([]Host, error) {
	var all gathered
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	number := 0
	for lines.Scan() {
		number++
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		name, slots, err := parseLine(fields)
		if err == nil {
			err = all.add(name, slots)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: a line of more than %d bytes; expected lines such as: a slots=2", path, number+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
	}
	if len(all.hosts) == 0 {
		return nil, fmt.Errorf("%s: there is no host in it; expected lines such as: a slots=2", path)
	}
	return all.hosts, nil
}

// parseLine reads the words of a line: a host, then what is said about it.
func parseLine(fields []string) (name string, slots int, err error) {
	name, slots, err = splitSlots(fields[0])
	if err != nil {
		return "", 0, err
	}
	most := MaxSlots
	for _, word := range fields[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "slots":
			slots, err = parseSlots(value)
		case "max_slots", "max-slots":
			most, err = parseSlots(value)
		default:
			err = fmt.Errorf("%q: expected slots=N", word)
		}
		if err != nil {
			return "", 0, fmt.Errorf("host %s: %w", name, err)
		}
	}
	if slots > most {
		return "", 0, fmt.Errorf("host %s: %d slots, but at most %d are allowed by max_slots", name, slots, most)
	}
	return name, slots, nil
}
