package pmi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMapping(t *testing.T) {
	for text, want := range map[string][]hostBlock{
		"(vector,(0,1,1))":           {{0, 1, 1}},
		"(vector,(0,2,4),(2,1,1))":   {{0, 2, 4}, {2, 1, 1}},
		" (vector,(3,1,2))\n":        {{3, 1, 2}},
		"":                           nil,
		"(vector)":                   nil,
		"(vector,())":                nil,
		"(vector,(0,0,1))":           nil,
		"(vector,(0,1,0))":           nil,
		"(vector,(-1,1,1))":          nil,
		"(vector,(0,1))":             nil,
		"(vector,(0,1,1,1))":         nil,
		"(vector,(0,1,99999999999))": nil,
		"(matrix,(0,1,1))":           nil,
		"(vector,(0,1,1)":            nil,
		"(vector,(0,1,1)x(0,1,1))":   nil,
	} {
		got, err := parseMapping(text)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(hostBlock{})); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, d)
		}
	}
}

func TestLocate(t *testing.T) {
	for text, want := range map[string]string{
		"(vector,(0,1,4))":         "0:0/4 0:1/4 0:2/4 0:3/4",
		"(vector,(0,2,2))":         "0:0/2 0:1/2 1:0/2 1:1/2",
		"(vector,(0,2,1))":         "0:0/2 1:0/2 0:1/2 1:1/2", // again and again
		"(vector,(0,1,1),(5,1,2))": "0:0/2 5:0/2 5:1/2 0:1/2",
		"(vector,(2,9,1))":         "2:0/1 3:0/1 4:0/1 5:0/1",
		"(vector,(0,1,9))":         "0:0/4 0:1/4 0:2/4 0:3/4",
	} {
		blocks, err := parseMapping(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r := range 4 {
			at := locate(blocks, r, 4)
			got = append(got, fmt.Sprintf("%d:%d/%d", at.Host, at.LocalRank, at.LocalSize))
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

// TestLocateAsksTheManager has a manager that knows, one that does not, and one that says nonsense.
func TestLocateAsksTheManager(t *testing.T) {
	const get = "cmd=get kvsname=kvs_7 key=PMI_process_mapping\n"
	for answer, want := range map[string]string{
		"rc=0 msg=success value=(vector,(0,2,1))": "{Host:1 LocalRank:0 LocalSize:2} <nil>",
		"rc=-1 msg=not_found value=unknown":       `{Host:0 LocalRank:0 LocalSize:0} PMI-1: get: code "-1" "not_found"`,
		"rc=0 msg=success value=(vector,(0,0,1))": "{Host:0 LocalRank:0 LocalSize:0} PMI_process_mapping is \"(vector,(0,0,1))\"; expected a vector such as (vector,(0,2,4))",
	} {
		conn, _ := append(v1Opening[:3:3], struct{ ask, answer string }{get, "cmd=get_result " + answer + "\n"}).play(t)
		p := NewV1(conn)
		if err := p.Begin(testenv.Context(t)); err != nil {
			t.Fatal(err)
		}
		at, err := p.Locate(testenv.Context(t), 1, 4)
		if got := fmt.Sprintf("%+v %v", at, err); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}
