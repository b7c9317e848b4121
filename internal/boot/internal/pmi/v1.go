package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

const (
	maxLine       = 1 << 16 // bytes of an answer, its newline included
	manyProcesses = 1 << 24 // more than any job has
)

// A V1 speaks PMI-1, by which Hydra's mpiexec, Flux and PALS let the processes that they start
// exchange a few values: lines over a connection that each process inherits, or opens. A line
// is "cmd=name key=value ...", and values have no spaces.
type V1 struct {
	conn
	in       *bufio.Reader
	space    string // the manager's name for the values of this job
	keyMax   int    // bytes of a key
	valueMax int    // bytes of a value
}

// NewV1 speaks over c, which it takes. Methods block until their ctx ends.
func NewV1(c net.Conn) *V1 {
	return &V1{conn: conn{c, "PMI-1"}, in: bufio.NewReaderSize(c, maxLine)}
}

// Begin agrees on the version. It abandons the connection if it cannot.
func (p *V1) Begin(ctx context.Context) error {
	err := p.within(ctx, func() error {
		if _, err := p.call("init pmi_version=1 pmi_subversion=1", "response_to_init"); err != nil {
			return err
		}
		limits, err := p.call("get_maxes", "maxes")
		if err != nil {
			return err
		}
		if p.keyMax, err = number(limits, "keylen_max", 1); err != nil {
			return err
		}
		if p.valueMax, err = number(limits, "vallen_max", 1); err != nil {
			return err
		}
		own, err := p.call("get_my_kvsname", "my_kvsname")
		if err == nil && own["kvsname"] == "" {
			err = errors.New("get_my_kvsname: the answer has no name")
		}
		p.space = own["kvsname"]
		return err
	})
	if err != nil {
		p.Abandon()
	}
	return err
}

// Introduce says which process this is, where the connection is not inherited, and returns
// its rank and the number of ranks. It abandons the connection if it cannot.
func (p *V1) Introduce(ctx context.Context, id int) (rank, size int, err error) {
	err = p.within(ctx, func() error {
		if _, err := p.call("initack pmiid="+strconv.Itoa(id), "initack"); err != nil {
			return err
		}
		for _, want := range []struct {
			key string
			to  *int
		}{{"size", &size}, {"rank", &rank}, {"debug", nil}} {
			answer, err := p.answer("set")
			if err == nil && want.to != nil {
				*want.to, err = number(answer, want.key, 0)
			}
			if err != nil {
				return err
			}
		}
		if size < 1 || rank >= size {
			return fmt.Errorf("it takes this process for rank %d of %d", rank, size)
		}
		return nil
	})
	if err != nil {
		p.Abandon()
	}
	return rank, size, err
}

// Put publishes a value, which others see after the next fence of all processes.
func (p *V1) Put(ctx context.Context, key, value string) error {
	return p.within(ctx, func() error {
		if len(key) >= p.keyMax || len(value) >= p.valueMax || strings.ContainsAny(key+value, " \n") {
			return fmt.Errorf("put: key %q with a value of %d bytes; less than %d and %d are allowed, without spaces", key, len(value), p.keyMax, p.valueMax)
		}
		_, err := p.call("put kvsname="+p.space+" key="+key+" value="+value, "put_result")
		return err
	})
}

// Fence waits for all processes.
func (p *V1) Fence(ctx context.Context) error {
	_, err := p.ask(ctx, "barrier_in", "barrier_out")
	return err
}

// Get returns a value that was put before the last fence, or by the manager.
func (p *V1) Get(ctx context.Context, key string) (string, error) {
	answer, err := p.ask(ctx, "get kvsname="+p.space+" key="+key, "get_result")
	return answer["value"], err
}

// Close ends the talk. The manager takes a process that ends without it for one that
// broke off.
func (p *V1) Close(ctx context.Context) error {
	return p.end(func() error {
		_, err := p.ask(ctx, "finalize", "finalize_ack")
		return err
	})
}

// ask makes a call that ends with ctx.
func (p *V1) ask(ctx context.Context, command, want string) (map[string]string, error) {
	return p.askWithin(ctx, func() (map[string]string, error) { return p.call(command, want) })
}

// call sends a command with its arguments and returns the answer to it.
func (p *V1) call(command, want string) (map[string]string, error) {
	name, _, _ := strings.Cut(command, " ")
	if _, err := io.WriteString(p.socket, "cmd="+command+"\n"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	answer, err := p.answer(want)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return answer, nil
}

// answer reads one line, which must be the command want and have succeeded.
func (p *V1) answer(want string) (map[string]string, error) {
	line, err := p.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("an answer of more than %d bytes", maxLine)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	answer, err := words(strings.TrimSuffix(string(line), "\n"))
	if err != nil {
		return nil, err
	}
	if answer["cmd"] != want {
		return nil, fmt.Errorf("the answer is a %.40q, not %s", answer["cmd"], want)
	}
	if rc, ok := answer["rc"]; ok && rc != "0" {
		return nil, fmt.Errorf("code %.20q %.200q", rc, answer["msg"])
	}
	return answer, nil
}

// words reads "key=value key=value". Words without "=" belong to texts for people.
func words(line string) (map[string]string, error) {
	out := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			continue
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("an answer that says %.40q twice", key)
		}
		out[key] = value
	}
	return out, nil
}

// number returns a number of an answer of at least from.
func number(answer map[string]string, key string, from int) (int, error) {
	n, err := strconv.Atoi(answer[key])
	if err != nil || n < from || n > manyProcesses {
		return 0, fmt.Errorf("an answer with %s=%.40q; expected a number from %d to %d", key, answer[key], from, manyProcesses)
	}
	return n, nil
}
