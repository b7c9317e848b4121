package boot

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

// PMI-1 is how Hydra's mpiexec, Flux and PALS let the processes that they start exchange
// a few values: lines over a connection that each process inherits, or opens. A line is
// "cmd=name key=value ...", and values have no spaces.
const maxPMI1 = 1 << 16 // bytes of an answer, its newline included

// A pmi1 is a process's connection to its process manager.
type pmi1 struct {
	pmiConn
	in       *bufio.Reader
	space    string // the manager's name for the values of this job
	keyMax   int    // bytes of a key
	valueMax int    // bytes of a value
}

// newPMI1 speaks over conn, which it takes. Methods block until their ctx ends.
func newPMI1(conn net.Conn) *pmi1 {
	return &pmi1{pmiConn: pmiConn{conn, "PMI-1"}, in: bufio.NewReaderSize(conn, maxPMI1)}
}

// begin agrees on the version. It abandons the connection if it cannot.
func (p *pmi1) begin(ctx context.Context) error {
	err := p.within(ctx, func() error {
		if _, err := p.call("init pmi_version=1 pmi_subversion=1", "response_to_init"); err != nil {
			return err
		}
		limits, err := p.call("get_maxes", "maxes")
		if err != nil {
			return err
		}
		if p.keyMax, err = pmi1Number(limits, "keylen_max", 1); err != nil {
			return err
		}
		if p.valueMax, err = pmi1Number(limits, "vallen_max", 1); err != nil {
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
		p.abandon()
	}
	return err
}

// introduce says which process this is, where the connection is not inherited, and returns
// its rank and the number of ranks. It abandons the connection if it cannot.
func (p *pmi1) introduce(ctx context.Context, id int) (rank, size int, err error) {
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
				*want.to, err = pmi1Number(answer, want.key, 0)
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
		p.abandon()
	}
	return rank, size, err
}

// put publishes a value, which others see after the next fence of all processes.
func (p *pmi1) put(ctx context.Context, key, value string) error {
	return p.within(ctx, func() error {
		if len(key) >= p.keyMax || len(value) >= p.valueMax || strings.ContainsAny(key+value, " \n") {
			return fmt.Errorf("put: key %q with a value of %d bytes; less than %d and %d are allowed, without spaces", key, len(value), p.keyMax, p.valueMax)
		}
		_, err := p.call("put kvsname="+p.space+" key="+key+" value="+value, "put_result")
		return err
	})
}

// fence waits for all processes.
func (p *pmi1) fence(ctx context.Context) error {
	_, err := p.ask(ctx, "barrier_in", "barrier_out")
	return err
}

// get returns a value that was put before the last fence, or by the manager.
func (p *pmi1) get(ctx context.Context, key string) (string, error) {
	answer, err := p.ask(ctx, "get kvsname="+p.space+" key="+key, "get_result")
	return answer["value"], err
}

// close ends the talk. The manager takes a process that ends without it for one that
// broke off.
func (p *pmi1) close(ctx context.Context) error {
	return p.end(func() error {
		_, err := p.ask(ctx, "finalize", "finalize_ack")
		return err
	})
}

// ask makes a call that ends with ctx.
func (p *pmi1) ask(ctx context.Context, command, want string) (map[string]string, error) {
	return p.askWithin(ctx, func() (map[string]string, error) { return p.call(command, want) })
}

// call sends a command with its arguments and returns the answer to it.
func (p *pmi1) call(command, want string) (map[string]string, error) {
	name, _, _ := strings.Cut(command, " ")
	if _, err := io.WriteString(p.conn, "cmd="+command+"\n"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	answer, err := p.answer(want)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return answer, nil
}

// answer reads one line, which must be the command want and have succeeded.
func (p *pmi1) answer(want string) (map[string]string, error) {
	line, err := p.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("an answer of more than %d bytes", maxPMI1)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	answer, err := pmi1Pairs(strings.TrimSuffix(string(line), "\n"))
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

// pmi1Pairs reads "key=value key=value". Words without "=" belong to texts for people.
func pmi1Pairs(line string) (map[string]string, error) {
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

// pmi1Number returns a number of an answer of at least from.
func pmi1Number(answer map[string]string, key string, from int) (int, error) {
	n, err := strconv.Atoi(answer[key])
	if err != nil || n < from || n > manyRanks {
		return 0, fmt.Errorf("an answer with %s=%.40q; expected a number from %d to %d", key, answer[key], from, manyRanks)
	}
	return n, nil
}
