package hosts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/namedfile"
)

const (
	maxLine = 4096     // bytes of a line of a file of hosts
	maxFile = 16 << 20 // bytes of a file of hosts, which is more than all hosts of a cluster need
)

// ReadFile reads the file of hosts at path; see ParseFile. The file is a regular one, or a
// descriptor such as /dev/fd/63 or /dev/stdin.
func ReadFile(path string) ([]Entry, error) {
	file := namedfile.File{Named: "file of hosts", Path: path, Expected: "a file with lines such as: a slots=2", Most: maxFile}
	text, err := file.Read()
	if err != nil {
		return nil, err
	}
	return ParseFile(path, bytes.NewReader(text))
}

// ParseFile reads hosts as mpirun takes them: one in a line, as "NAME",
// "NAME:SLOTS" or "NAME slots=N"; max_slots=N may follow and must not be less.
// Comments begin with #. A host that comes again gets more slots. Errors name
// path and line.
func ParseFile(path string, r io.Reader) ([]Entry, error) {
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
	if err == nil {
		err = checkName(name)
	}
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
			err = fmt.Errorf("%.80q: expected slots=N", word)
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
