package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/object"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/spelling"
)

// general does what is about gaspi-bench itself: help, version and completion. It
// reports false for a command line that is about something to measure.
func general(args []string, stdout, stderr io.Writer) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	var err error
	text := ""
	switch rest := args[1:]; args[0] {
	case "--version", "version":
		err = most(rest, 0)
		text = "gaspi-bench " + version() + "\n"
	case "help":
		if err = most(rest, 1); err == nil {
			text, err = helpFor(rest)
		}
	case "completion":
		if err = most(rest, 1); err == nil {
			text, err = complete(rest)
		}
	default:
		return 0, false
	}
	if err != nil {
		return decline(err, "gaspi-bench --help", stderr), true
	}
	return show(text, stdout, stderr), true
}

// show prints what was asked for, and returns the exit code.
func show(text string, stdout, stderr io.Writer) int {
	if _, err := io.WriteString(stdout, text); err != nil {
		say(stderr, fmt.Errorf("cannot write the output: %w", err))
		return exitFailed
	}
	return 0
}

// most refuses more arguments than n.
func most(args []string, n int) error {
	if len(args) > n {
		return fmt.Errorf("unexpected argument %q", args[n])
	}
	return nil
}

// version returns the versions of the module and of Go.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return gaspi.Version
	}
	return info.Main.Version + " " + info.GoVersion
}

// helpFor returns the help of what is named first among args: an operation, or one of the
// other commands. Without any it writes the help of all.
func helpFor(args []string) (string, error) {
	for _, name := range args {
		switch name {
		case dnnName:
			return helpDNN(), nil
		case commandFigure, commandReport:
			return figuresHelp(name), nil
		case commandPerformance:
			return performanceHelp(), nil
		}
		for _, op := range operations() {
			if op.Name == name {
				return helpOperation(op), nil
			}
		}
		if !strings.HasPrefix(name, "-") && len(args) == 1 {
			return "", spelling.Unknown("there is no help on", name, commandNames())
		}
	}
	return help(), nil
}

// helpOperation is what --help prints of one operation: only the flags that mean
// something to it.
func helpOperation(op operation) string {
	return fmt.Sprintf("Usage: gaspi-bench %s [flags]\n\n%s\n\nFlags:\n%s\ngaspi-bench --help explains the columns and has examples.\n",
		op.Name, strings.ToUpper(op.About[:1])+op.About[1:], flagsOf(op).FlagUsages())
}

// flagsOf is the flag set of all operations with those hidden that mean nothing to one.
func flagsOf(op operation) *pflag.FlagSet {
	sizes := ""
	f := Flags(&options{}, &sizes, &collectiveFlags{})
	f.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !op.takes(flag.Name) })
	return f
}

// flagsOfBatches are about workloads whose operations are timed many at a time.
var flagsOfBatches = []string{"verify", "side", "plot", "osu"}

// flagsOfRepeats are about what is done again and again in one job.
var flagsOfRepeats = []string{"time", "peer-algorithm", "peer-best"}

// takes reports whether a flag means anything to the operation.
func (op operation) takes(flag string) bool {
	switch {
	case op.calls && slices.Contains(flagsOfBatches, flag):
		return false
	case op.start != nil && slices.Contains(flagsOfRepeats, flag):
		return false
	case flag == "verify" && op.object != object.None:
		return true
	case slices.Contains(collectiveNames(), flag):
		all := schedule.Operations()
		i := slices.IndexFunc(all, func(what schedule.Operation) bool { return what.String() == op.Name })
		return (op.team || op.maybe) && i >= 0 && suits(all[i], flag)
	case flag == "interval":
		return op.object.Joins()
	case flag == "static":
		_, known := op.object.Collective()
		return known
	case slices.Contains(objectFlagNames(), flag):
		return op.object != object.None
	case flag == "peer-segments":
		return op.Name == schedule.AllReduce.String()
	case flag == "peer" || slices.Contains(peerFlagNames(), flag):
		return slices.ContainsFunc(peer.Names(), func(name string) bool { return len(peer.Ways(name, op.Name)) > 0 })
	case flag == "out":
		return op.tune
	case flag == "sizes":
		return op.Sizes != nil
	case flag == "plot":
		return op.Sizes != nil && !op.tune
	case slices.Contains([]string{"n", "transport", "bind", "json", "osu"}, flag):
		return !op.tune
	}
	return true
}

// commandNames are all first words of a command line.
func commandNames() []string {
	names := strings.Split(operationNames(), ", ")
	return append(names, dnnName, commandFigure, commandReport, commandPerformance)
}

// visible returns the flags of a first word, as they are typed, with what they mean.
func visible(command string) (names, usages []string) {
	f := new(dnnCommand).flags(&options{})
	switch command {
	case dnnName:
	case commandFigure, commandReport:
		f = figureFlags(&figureOptions{command: command})
	case commandPerformance:
		f = new(performanceCommand).flags()
	default:
		ops := operations()
		f = flagsOf(ops[slices.IndexFunc(ops, func(op operation) bool { return op.Name == command })])
	}
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		name := "--" + flag.Name
		if len(flag.Name) == 1 {
			name = "-" + flag.Name
		}
		_, usage := pflag.UnquoteUsage(flag)
		names, usages = append(names, name), append(usages, strings.ReplaceAll(usage, "\n", " "))
	})
	return append(names, "--help"), append(usages, "show the help of "+command)
}

// complete writes the completion script of a shell.
func complete(args []string) (string, error) {
	shells := map[string]func(io.Writer){"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
	if len(args) == 0 || shells[args[0]] == nil {
		return "", fmt.Errorf("completion: name a shell, one of bash, zsh and fish; such as: source <(gaspi-bench completion bash)")
	}
	var script strings.Builder
	shells[args[0]](&script)
	return script.String(), nil
}

func firstWords() string {
	return strings.Join(append(commandNames(), "help", "version", "completion", "--help", "--version"), " ")
}

func completeBash(w io.Writer) {
	completeByCase(w, "_gaspi_bench() {\n\tlocal words=\n\tif ((COMP_CWORD == 1)); then\n\t\twords='%s'\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n",
		"\t\t%s) words='%s' ;;\n",
		"\t\thelp) words='%s' ;;\n\t\tcompletion) words='bash zsh fish' ;;\n\t\tesac\n\tfi\n")
	fmt.Fprint(w, "\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _gaspi_bench gaspi-bench\n")
}

func completeZsh(w io.Writer) {
	completeByCase(w, "#compdef gaspi-bench\n_gaspi_bench() {\n\tif ((CURRENT == 2)); then\n\t\tcompadd -- %s\n\t\treturn\n\tfi\n\tcase $words[2] in\n",
		"\t%s) compadd -- %s ;;\n",
		"\thelp) compadd -- %s ;;\n\tcompletion) compadd -- bash zsh fish ;;\n\tesac\n\t_files\n}\ncompdef _gaspi_bench gaspi-bench\n")
}

// completeByCase writes a case statement over commands in the syntax of a shell: head with the
// words that may come first, command for each with its flags, and tail with the commands.
func completeByCase(w io.Writer, head, command, tail string) {
	fmt.Fprintf(w, head, firstWords())
	for _, name := range commandNames() {
		flags, _ := visible(name)
		fmt.Fprintf(w, command, name, strings.Join(flags, " "))
	}
	fmt.Fprintf(w, tail, strings.Join(commandNames(), " "))
}

func completeFish(w io.Writer) {
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	fmt.Fprintf(w, "complete -c gaspi-bench -n __fish_use_subcommand -f -a '%s'\n", firstWords())
	for _, name := range commandNames() {
		flags, usages := visible(name)
		for i, flag := range flags {
			kind, word := "-l", strings.TrimPrefix(flag, "--")
			if !strings.HasPrefix(flag, "--") {
				kind, word = "-s", flag[1:]
			}
			fmt.Fprintf(w, "complete -c gaspi-bench -n '__fish_seen_subcommand_from %s' %s %s -d '%s'\n", name, kind, word, quote.Replace(usages[i]))
		}
	}
	fmt.Fprintf(w, "complete -c gaspi-bench -n '__fish_seen_subcommand_from help' -f -a '%s'\n", strings.Join(commandNames(), " "))
	fmt.Fprint(w, "complete -c gaspi-bench -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n")
}
