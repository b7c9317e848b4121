package program

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// NewFlags makes the flags of a program, none yet, in the order in which they are added.
func NewFlags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	return f
}

// A Value is a flag whose text is checked while flags are parsed, so that the message
// names the flag.
type Value struct {
	Text string // shown as the default
	Kind string // shown in the help
	Take func(text string) error
}

// String is the default, or what was given.
func (v *Value) String() string { return v.Text }

// Type is what the help calls it.
func (v *Value) Type() string { return v.Kind }

// Set takes what was given.
func (v *Value) Set(text string) error {
	v.Text = text
	return v.Take(text)
}

// Into returns a Take that stores what parse makes of the text.
func Into[T any](to *T, parse func(text string) (T, error)) func(text string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

// Whole is a flag for whole numbers within bounds, which it stores in to at once.
func Whole(to *int, kind string, standard, low, high int) *Value {
	*to = standard
	return &Value{Text: strconv.Itoa(standard), Kind: kind, Take: Into(to, func(text string) (int, error) {
		return ParseWhole(text, low, high)
	})}
}

// ParseWhole reads a whole number within bounds.
func ParseWhole(text string, low, high int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("expected a whole number from %d to %d", low, high)
	}
	return n, nil
}

// OneOf is a flag for one of some words, each of which set is told.
func OneOf(kind, standard string, set func(word string), words ...string) *Value {
	return &Value{Text: standard, Kind: kind, Take: func(text string) error {
		if !slices.Contains(words, text) {
			last := len(words) - 1
			return fmt.Errorf("expected %s or %s", strings.Join(words[:last], ", "), words[last])
		}
		set(text)
		return nil
	}}
}

// List reads what stands between commas, each once.
func List[T comparable](text string, one func(text string) (T, error)) ([]T, error) {
	var all []T
	for s := range strings.SplitSeq(text, ",") {
		v, err := one(s)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, v) {
			return nil, fmt.Errorf("%s is given twice", s)
		}
		all = append(all, v)
	}
	return all, nil
}

// CheckRest says what is wrong with a command line whose flags are well formed, or nil: there
// is nothing but flags, and those that name files, in files, name each another one.
func CheckRest(f *pflag.FlagSet, files ...string) error {
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; everything is said with flags", f.Arg(0))
	}
	given := make(map[string]string) // flags, by their files
	for _, name := range files {
		if !f.Changed(name) {
			continue
		}
		path := f.Lookup(name).Value.String()
		if path == "" {
			return fmt.Errorf("--%s needs the name of a file; found an empty one", name)
		}
		clean := filepath.Clean(path)
		if first := given[clean]; first != "" {
			return fmt.Errorf("--%s and --%s both name %s; give two files", first, name, f.Lookup(first).Value)
		}
		given[clean] = name
	}
	return nil
}
