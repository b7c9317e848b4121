package pmi

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

const (
	v1Init    = "cmd=init pmi_version=1 pmi_subversion=1\n"
	v1Welcome = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	v1Maxes   = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	v1Space   = "cmd=my_kvsname kvsname=kvs_7\n"
)

// v1Opening is the part of a script that begin plays.
var v1Opening = script{{v1Init, v1Welcome}, {"cmd=get_maxes\n", v1Maxes}, {"cmd=get_my_kvsname\n", v1Space}}

func TestV1(t *testing.T) {
	conn, heard := append(append(script{
		{"cmd=initack pmiid=3\n", "cmd=initack\ncmd=set size=8\ncmd=set rank=3\ncmd=set debug=0\n"},
	}, v1Opening...), script{
		{"cmd=put kvsname=kvs_7 key=k value=a=b;c\n", "cmd=put_result rc=0 msg=success\n"},
		{"cmd=barrier_in\n", "cmd=barrier_out\n"},
		{"cmd=get kvsname=kvs_7 key=k\n", "cmd=get_result rc=0 msg=it is there value=a=b;c\n"},
		{"cmd=finalize\n", "cmd=finalize_ack\n"},
	}...).play(t)
	ctx := testenv.Context(t)
	p := NewV1(conn)
	if rank, size, err := p.Introduce(ctx, 3); rank != 3 || size != 8 || err != nil {
		t.Fatalf("rank %d of %d, %v", rank, size, err)
	}
	if err := p.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	exchangeOne(t, ctx, p, "a=b;c", heard)
}

func TestV1ThatGoesWrong(t *testing.T) {
	opened := func(more ...struct{ ask, answer string }) script { return append(v1Opening[:3:3], more...) }
	const get = "cmd=get kvsname=kvs_7 key=k\n"
	for _, c := range []struct {
		name   string
		script script
		want   string
	}{
		{"another version", script{{v1Init, "cmd=response_to_init rc=-1 msg=no\n"}}, `init: code "-1" "no"`},
		{"PMI-2", script{{v1Init, "    33cmd=fullinit-response;rc=0;size=2;\n"}}, "init: the answer is a"},
		{"endless line", script{{v1Init, strings.Repeat("x", maxLine+1)}}, "more than 65536 bytes"},
		{"cut off", script{{v1Init, v1Welcome[:20]}}, "init: unexpected EOF"},
		{"closed", script{{v1Init, ""}}, "init: EOF"},
		{"twice", script{{v1Init, "cmd=response_to_init rc=0 rc=1\n"}}, `says "rc" twice`},
		{"no limit", script{{v1Init, v1Welcome}, {"cmd=get_maxes\n", "cmd=maxes keylen_max=64\n"}}, `vallen_max=""; expected a number`},
		{"limit that is none", script{{v1Init, v1Welcome}, {"cmd=get_maxes\n", "cmd=maxes keylen_max=-1 vallen_max=1\n"}}, `keylen_max="-1"`},
		{"limit that overflows", script{{v1Init, v1Welcome}, {"cmd=get_maxes\n", "cmd=maxes keylen_max=99999999999999999999 vallen_max=1\n"}}, "expected a number"},
		{"no name", script{{v1Init, v1Welcome}, {"cmd=get_maxes\n", v1Maxes}, {"cmd=get_my_kvsname\n", "cmd=my_kvsname\n"}}, "the answer has no name"},
		{"value that nobody put", opened(struct{ ask, answer string }{get, "cmd=get_result rc=-1 msg=key_k_not_found value=unknown\n"}), `code "-1" "key_k_not_found"`},
		{"another answer", opened(struct{ ask, answer string }{get, "cmd=barrier_out\n"}), `"barrier_out", not get_result`},
		{"nothing", opened(struct{ ask, answer string }{get, "\n"}), `"", not get_result`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, _ := c.script.play(t)
			p := NewV1(conn)
			err := p.Begin(testenv.Context(t))
			if err == nil {
				_, err = p.Get(testenv.Context(t), "k")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "PMI-1: ") {
				t.Errorf("%v, want an error of PMI-1 with %q", err, c.want)
			}
		})
	}
}

func TestV1RefusesWhatItCannotSay(t *testing.T) {
	conn, _ := v1Opening.play(t)
	p := NewV1(conn)
	if err := p.Begin(testenv.Context(t)); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"k", "two words"}, {"k", "two\nlines"}, {"a key", "v"}, {"k", strings.Repeat("v", 1024)}, {strings.Repeat("k", 64), "v"}} {
		if err := p.Put(testenv.Context(t), kv[0], kv[1]); err == nil || !strings.Contains(err.Error(), "without spaces") {
			t.Errorf("%.20q, %.20q: %v", kv[0], kv[1], err)
		}
	}
}

func TestV1TakesThisProcessForNoRank(t *testing.T) {
	for _, said := range []string{"cmd=set size=2\ncmd=set rank=2\ncmd=set debug=0\n", "cmd=set size=0\ncmd=set rank=0\ncmd=set debug=0\n"} {
		conn, _ := script{{"cmd=initack pmiid=0\n", "cmd=initack\n" + said}}.play(t)
		if _, _, err := NewV1(conn).Introduce(testenv.Context(t), 0); err == nil || !strings.Contains(err.Error(), "takes this process for rank") {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func TestV1EndsWithTheContext(t *testing.T) {
	conn, other := net.Pipe()
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewV1(conn).Begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

// FuzzV1 checks that no answer, and no mapping, makes a reader panic or take much memory.
func FuzzV1(f *testing.F) {
	f.Add("cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n")
	f.Add("cmd=get_result rc=-1 msg=no\n")
	f.Add("cmd=get_result value=(vector,(0,9999999,1),(1,1,9999999))")
	f.Add("\x00=\n")
	f.Fuzz(func(t *testing.T, in string) {
		p := &V1{in: bufio.NewReaderSize(strings.NewReader(in), maxLine)}
		answer, err := p.answer("get_result")
		size := 0
		for k, v := range answer {
			size += len(k) + len(v)
		}
		if size > len(in) || err != nil && answer != nil {
			t.Errorf("%q was read as %q, %v", in, answer, err)
		}
		if blocks, err := parseMapping(answer["value"]); err == nil {
			if at := locate(blocks, 2, 5); at.Host < 0 || at.LocalRank >= at.LocalSize || at.LocalSize > 5 {
				t.Errorf("%q: rank 2 of 5 is at %+v", in, at)
			}
		}
	})
}
