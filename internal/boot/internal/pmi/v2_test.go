package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A script is the other end of a connection: it expects what is asked, in
// this order, and answers.
type script []struct{ ask, answer string }

// play runs the script on one end of a pipe, closes it then, and returns the other; heard gets
// what was asked instead, or is closed at the end of the script.
func (s script) play(t *testing.T) (conn net.Conn, heard chan string) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close() })
	heard = make(chan string, 1)
	go func() {
		defer close(heard)
		defer ours.Close()
		for _, line := range s {
			got := make([]byte, len(line.ask))
			if _, err := io.ReadFull(ours, got); err != nil || string(got) != line.ask {
				heard <- fmt.Sprintf("%q, %v; want %q", got, err, line.ask)
				return
			}
			io.WriteString(ours, line.answer)
		}
	}()
	return theirs, heard
}

// framed puts the length before a message.
func framed(text string) string { return fmt.Sprintf("%6d%s", len(text), text) }

const v2Welcome = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"

func TestV2(t *testing.T) {
	conn, heard := script{
		{firstLine, v2Welcome},
		{framed("cmd=fullinit;pmijobid=7.0;pmirank=2;threaded=FALSE;"), framed("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=2;size=8;appnum=-1;")},
		{framed("cmd=kvs-put;key=k;value=a;;b=c;"), framed("cmd=kvs-put-response;rc=0;")},
		{framed("cmd=kvs-fence;"), framed("cmd=kvs-fence-response;rc=0;")},
		{framed("cmd=kvs-get;jobid=7.0;srcid=-1;key=k;"), framed("cmd=kvs-get-response;rc=0;found=TRUE;value=a;;b=c;")},
		{framed("cmd=finalize;"), framed("cmd=finalize-response;rc=0;")},
	}.play(t)
	ctx := testenv.Context(t)
	p, size, err := OpenV2(ctx, conn, "7.0", 2)
	if err != nil || size != 8 {
		t.Fatalf("%d, %v", size, err)
	}
	exchangeOne(t, ctx, p, "a;b=c", heard)
}

// A client is a V1 or a V2.
type client interface {
	Put(ctx context.Context, key, value string) error
	Fence(ctx context.Context) error
	Get(ctx context.Context, key string) (string, error)
	Close(ctx context.Context) error
}

// exchangeOne puts a value called k, gets it after a fence, and closes the connection; heard
// is as play returns it.
func exchangeOne(t *testing.T, ctx context.Context, p client, value string, heard chan string) {
	t.Helper()
	if err := errors.Join(p.Put(ctx, "k", value), p.Fence(ctx)); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Get(ctx, "k"); err != nil || got != value {
		t.Errorf("%q, %v", got, err)
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	if wrong, open := <-heard; open {
		t.Error(wrong)
	}
}

func TestV2ThatGoesWrong(t *testing.T) {
	fullinit := framed("cmd=fullinit;pmijobid=j;pmirank=0;threaded=FALSE;")
	welcome := framed("cmd=fullinit-response;rc=0;size=2;")
	get := framed("cmd=kvs-get;jobid=j;srcid=-1;key=k;")
	for _, c := range []struct {
		name   string
		script script
		want   string
	}{
		{"old version", script{{firstLine, "cmd=response_to_init rc=-1\n"}}, "refuses to speak PMI-2"},
		{"endless line", script{{firstLine, strings.Repeat("x", 300)}}, "endless"},
		{"cut off", script{{firstLine, v2Welcome}, {fullinit, welcome[:20]}}, "unexpected EOF"},
		{"no length", script{{firstLine, v2Welcome}, {fullinit, "cmd=ful"}}, "no length"},
		{"too long", script{{firstLine, v2Welcome}, {fullinit, "999999"}}, "no length"},
		{"negative length", script{{firstLine, v2Welcome}, {fullinit, "    -1"}}, "no length"},
		{"no size", script{{firstLine, v2Welcome}, {fullinit, framed("cmd=fullinit-response;rc=0;")}}, `"" tasks`},
		{"error code", script{{firstLine, v2Welcome}, {fullinit, framed("cmd=fullinit-response;rc=14;errmsg=no;")}}, "code 14 no"},
		{"another answer", script{{firstLine, v2Welcome}, {fullinit, framed("cmd=kvs-put-response;rc=0;")}}, "kvs-put-response"},
		{"value that nobody put", script{{firstLine, v2Welcome}, {fullinit, welcome}, {get, framed("cmd=kvs-get-response;rc=0;found=FALSE;")}}, `no task has put "k"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, _ := c.script.play(t)
			p, _, err := OpenV2(testenv.Context(t), conn, "j", 0)
			if err == nil {
				_, err = p.Get(testenv.Context(t), "k")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "PMI-2: ") {
				t.Errorf("%v, want an error of PMI-2 with %q", err, c.want)
			}
		})
	}
}

func TestV2EndsWithTheContext(t *testing.T) {
	conn, other := net.Pipe()
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := OpenV2(ctx, conn, "j", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestPairs(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                   {},
		"a=1;b=2;":           {"a": "1", "b": "2"},
		"a=;b":               {"a": ""},
		"a=x=y;;z;":          {"a": "x=y;z"},
		"cmd=a;a=;;;;;b=1;;": {"cmd": "a", "a": ";;", "b": "1;"},
	} {
		if d := cmp.Diff(want, pairs(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

// FuzzV2 checks that no answer makes the reader panic or take much memory.
func FuzzV2(f *testing.F) {
	f.Add(framed("cmd=kvs-get-response;rc=0;found=TRUE;value=a;;b;"))
	f.Add("     0")
	f.Add("999999x")
	f.Fuzz(func(t *testing.T, in string) {
		answer, err := readAnswer(strings.NewReader(in))
		size := 0
		for k, v := range answer {
			size += len(k) + len(v)
		}
		if size > len(in) || err != nil && answer != nil {
			t.Errorf("%q was read as %q, %v", in, answer, err)
		}
	})
}
