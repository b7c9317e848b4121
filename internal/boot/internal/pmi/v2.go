package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

const (
	firstLine  = "cmd=init pmi_version=2 pmi_subversion=0\n"
	lengthSize = 6
	maxMessage = 1 << 16 // bytes of an answer; values have at most 1024
	maxValue   = 1024
	terminator = ";"
)

// A V2 speaks PMI-2, by which the tasks of a Slurm step exchange a few values at start: text
// over a connection that each task inherits. A message is its length as six characters, and
// then "cmd=name;key=value;...". A ";" inside a value is doubled.
type V2 struct {
	conn
	job string // as Slurm calls it
}

// OpenV2 begins to speak over c, which it takes, and returns how many tasks the step has. It
// blocks until ctx ends, as all methods do.
func OpenV2(ctx context.Context, c net.Conn, job string, rank int) (p *V2, size int, err error) {
	p = &V2{conn{c, "PMI-2"}, job}
	err = p.within(ctx, func() error {
		if _, err := io.WriteString(c, firstLine); err != nil {
			return err
		}
		line, err := readLine(c)
		if err != nil {
			return err
		}
		if rc := pairs(strings.ReplaceAll(line, " ", terminator))["rc"]; rc != "0" {
			return fmt.Errorf("it refuses to speak PMI-2: %q", line)
		}
		answer, err := p.call("fullinit", "pmijobid", job, "pmirank", strconv.Itoa(rank), "threaded", "FALSE")
		if err != nil {
			return err
		}
		if size, err = strconv.Atoi(answer["size"]); err != nil {
			return fmt.Errorf("it says that the step has %q tasks", answer["size"])
		}
		return nil
	})
	if err != nil {
		p.Abandon()
		return nil, 0, err
	}
	return p, size, nil
}

// Put publishes a value, which others see after the next fence of all tasks.
func (p *V2) Put(ctx context.Context, key, value string) error {
	if len(value) > maxValue {
		return fmt.Errorf("PMI-2: a value of %d bytes; at most %d are allowed", len(value), maxValue)
	}
	_, err := p.ask(ctx, "kvs-put", "key", key, "value", value)
	return err
}

// Fence waits for all tasks of the step.
func (p *V2) Fence(ctx context.Context) error {
	_, err := p.ask(ctx, "kvs-fence")
	return err
}

// Get returns a value that was put before the last fence.
func (p *V2) Get(ctx context.Context, key string) (string, error) {
	answer, err := p.ask(ctx, "kvs-get", "jobid", p.job, "srcid", "-1", "key", key)
	if err == nil && answer["found"] == "FALSE" {
		err = fmt.Errorf("%s: no task has put %q", p.version, key)
	}
	return answer["value"], err
}

// Close ends the talk. Slurm takes a task that ends without it for one that
// broke off.
func (p *V2) Close(ctx context.Context) error {
	return p.end(func() error {
		_, err := p.ask(ctx, "finalize")
		return err
	})
}

// ask makes a call that ends with ctx.
func (p *V2) ask(ctx context.Context, command string, args ...string) (map[string]string, error) {
	return p.askWithin(ctx, func() (map[string]string, error) { return p.call(command, args...) })
}

// call sends a command and returns the answer to it.
func (p *V2) call(command string, args ...string) (map[string]string, error) {
	text := message(command, args...)
	if _, err := io.WriteString(p.socket, fmt.Sprintf("%*d%s", lengthSize, len(text), text)); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	answer, err := readAnswer(p.socket)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	if answer["cmd"] != command+"-response" {
		return nil, fmt.Errorf("%s: the answer is a %.40q", command, answer["cmd"])
	}
	if rc := answer["rc"]; rc != "" && rc != "0" {
		return nil, fmt.Errorf("%s: code %s %s", command, rc, answer["errmsg"])
	}
	return answer, nil
}

// message writes a command without its length.
func message(command string, args ...string) string {
	text := "cmd=" + command + terminator
	for i := 0; i < len(args); i += 2 {
		text += args[i] + "=" + strings.ReplaceAll(args[i+1], ";", ";;") + terminator
	}
	return text
}

// readAnswer reads one message.
func readAnswer(r io.Reader) (map[string]string, error) {
	var head [lengthSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(head[:])))
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("a message that begins with %q, which is no length", head[:])
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	return pairs(string(body)), nil
}

// pairs reads "key=value;key=value;".
func pairs(text string) map[string]string {
	const twice = "\x00" // stands for a doubled ";" while the text is cut
	out := map[string]string{}
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ";;", twice), ";") {
		if k, v, ok := strings.Cut(part, "="); ok {
			out[k] = strings.ReplaceAll(v, twice, ";")
		}
	}
	return out
}

// readLine reads up to a newline and not a byte more, since messages follow it.
func readLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for len(line) < 256 {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
	return "", errors.New("an endless first line")
}
