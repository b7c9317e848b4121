package system

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A yamlReader reads the part of YAML that the files of deploy are written in: mappings and
// sequences in block style, scalars on one line, plain or in double quotes, and comments on
// lines of their own. It refuses everything else.
type yamlReader struct {
	lines []yamlLine
}

type yamlLine struct {
	number, indent int
	text           string
}

var (
	yamlKey   = regexp.MustCompile(`^([A-Za-z][\w./-]*):(?: +(.+))?$`)
	yamlPlain = regexp.MustCompile(`^(--?)?[\w./][\w./:'\[\]-]*$`)
	yamlOctal = regexp.MustCompile(`^0[0-7]+$`)
)

// readYAML returns the documents of a text: maps, slices, strings, numbers and booleans as
// package encoding/json makes them.
func readYAML(text string) (documents []any, err error) {
	var r yamlReader
	end := func() error {
		if len(r.lines) == 0 {
			return nil
		}
		v, err := r.node(0)
		if err == nil && len(r.lines) > 0 {
			err = r.wrong("an indentation that continues nothing")
		}
		documents = append(documents, v)
		return err
	}
	for i, line := range strings.Split(text, "\n") {
		body := strings.TrimLeft(line, " ")
		switch {
		case line == "---":
			if err := end(); err != nil {
				return nil, err
			}
		case body != "" && body[0] != '#':
			r.lines = append(r.lines, yamlLine{i + 1, len(line) - len(body), body})
		}
	}
	return documents, end()
}

func (r *yamlReader) wrong(what string) error {
	return fmt.Errorf("line %d: %s: %s", r.lines[0].number, what, r.lines[0].text)
}

// node reads what begins at the next line, whose indentation is indent.
func (r *yamlReader) node(indent int) (any, error) {
	if strings.HasPrefix(r.lines[0].text, "- ") {
		return r.sequence(indent)
	}
	if yamlKey.MatchString(r.lines[0].text) {
		return r.mapping(indent)
	}
	v, err := scalar(r.lines[0].text)
	if err != nil {
		return nil, r.wrong(err.Error())
	}
	r.lines = r.lines[1:]
	return v, nil
}

func (r *yamlReader) at(indent int) bool { return len(r.lines) > 0 && r.lines[0].indent == indent }

func (r *yamlReader) sequence(indent int) (any, error) {
	var items []any
	for r.at(indent) && strings.HasPrefix(r.lines[0].text, "- ") {
		r.lines[0].indent, r.lines[0].text = indent+2, r.lines[0].text[2:]
		v, err := r.node(indent + 2)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, nil
}

func (r *yamlReader) mapping(indent int) (any, error) {
	m := map[string]any{}
	for r.at(indent) {
		found := yamlKey.FindStringSubmatch(r.lines[0].text)
		if found == nil {
			return nil, r.wrong("expected a key")
		}
		key, text := found[1], found[2]
		if _, twice := m[key]; twice {
			return nil, r.wrong("a key that is there twice")
		}
		var err error
		if text != "" {
			if m[key], err = scalar(text); err != nil {
				return nil, r.wrong(err.Error())
			}
			r.lines = r.lines[1:]
			continue
		}
		if len(r.lines) == 1 || r.lines[1].indent <= indent {
			return nil, r.wrong("a key without a value")
		}
		r.lines = r.lines[1:]
		if m[key], err = r.node(r.lines[0].indent); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// scalar returns the value of a scalar by the rules that Kubernetes reads YAML by.
func scalar(text string) (any, error) {
	if quoted, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		return quoted, nil
	}
	if !yamlPlain.MatchString(text) || strings.HasSuffix(text, ":") {
		return nil, fmt.Errorf("a scalar that these files do not use")
	}
	if yamlOctal.MatchString(text) {
		n, err := strconv.ParseInt(text, 8, 64)
		return float64(n), err
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v, nil
	}
	return text, nil
}

// Goal: the reader reads what another reader of YAML would, and refuses the rest.
func TestReadYAML(t *testing.T) {
	got, err := readYAML("# c\na: 1\nb:\n  - x: \"1\"\n    y: 0440\n  - z\n  - --v\nc:\n  d: true\n---\n- /p:q\n")
	want := []any{
		map[string]any{
			"a": 1.0, "b": []any{map[string]any{"x": "1", "y": 288.0}, "z", "--v"}, "c": map[string]any{"d": true},
		},
		[]any{"/p:q"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	for _, text := range []string{"a: {b: 1}", "a: [1]", "a: &x 1", "a: |\n  b", "a: 1 # c", "a:\n", "a: 1\na: 2", "a: 1\n  b: 2", "a: 'x'", "a: 1\n- b", "\ta: 1", "a: *x"} {
		if got, err := readYAML(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
