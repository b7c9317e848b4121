package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/internal/spelling"
)

// otherNames are the names by which mpirun and others know flags of gaspi-run.
var otherNames = map[string]string{
	"np": "ranks", "host": "hosts", "machinefile": "hostfile",
	"nproc-per-node": "ranks", "rdzv-endpoint": "rendezvous",
}

// byOwnName is the name of a flag here.
func byOwnName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-") // as in --node_rank
	if own, ok := otherNames[name]; ok {
		name = own
	}
	return pflag.NormalizedName(name)
}

// oneDash are the flags of mpirun that have a long name after one dash.
var oneDash = []string{"np", "host", "hosts", "hostfile", "machinefile"}

// respell writes long flags after one dash, such as -np 4, with two. It changes nothing
// of PROGRAM and what follows.
func respell(args []string, flags *pflag.FlagSet) []string {
	out := append([]string(nil), args...)
	for i := 0; i < len(out); i++ {
		if !strings.HasPrefix(out[i], "-") || out[i] == "-" || out[i] == "--" {
			break
		}
		out[i] = twoDashes(out[i])
		if takesNext(out[i], flags) {
			i++
		}
	}
	return out
}

// twoDashes respells one argument. -np4 is understood as well, and -nprog is not.
func twoDashes(arg string) string {
	for _, name := range oneDash {
		if rest, ok := strings.CutPrefix(arg, "-"+name); ok && (rest == "" || rest[0] == '=') {
			return "-" + arg
		}
	}
	if digits, ok := strings.CutPrefix(arg, "-np"); ok && strings.Trim(digits, "0123456789") == "" {
		return "--np=" + digits
	}
	return arg
}

// takesNext reports whether the argument after a flag is its value.
func takesNext(arg string, flags *pflag.FlagSet) bool {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		f := flags.Lookup(name) // nil with a value after =, or an unknown flag
		return f != nil && f.NoOptDefVal == ""
	}
	for i := 1; i < len(arg); i++ {
		f := flags.ShorthandLookup(arg[i : i+1])
		if f == nil {
			return false
		}
		if f.NoOptDefVal == "" {
			return i == len(arg)-1
		}
	}
	return false
}

// fromHere gives entries of the environment without a value, as in -x NAME, the one that
// the variable has here.
func fromHere(env []string) ([]string, error) {
	out := append([]string(nil), env...)
	for i, entry := range out {
		if entry == "" || strings.ContainsAny(entry, "=\x00") {
			continue // the launcher checks them
		}
		value, ok := os.LookupEnv(entry)
		if !ok {
			return nil, fmt.Errorf("-x %s: there is no variable of that name here; write %s=VALUE", entry, entry)
		}
		out[i] = entry + "=" + value
	}
	return out, nil
}

// detached is why a command line makes no sense whose form of --stats was written behind a space, as if it were PROGRAM.
func detached(args []string, flags *pflag.FlagSet) error {
	last, form := len(args)-flags.NArg()-1, flags.Arg(0)
	if last < 0 || args[last] != "--stats" || form != "text" && form != "json" {
		return nil
	}
	return fmt.Errorf("--stats %[1]s: write --stats=%[1]s, or ./%[1]s for a program", form)
}

// nearest returns the flag that a misspelt name may stand for, "" if there is none.
func nearest(name string, flags *pflag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return spelling.Nearest(name, names)
}
