package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// The first arguments that are no PROGRAM, beside agentWord, infoWord, psWord and topWord. A program of
// such a name is started as ./help, or after --.
const (
	helpWord       = "help"
	versionWord    = "version"
	completionWord = "completion"
)

// general does what is about gaspi-run itself. It reports false for a command line that
// starts ranks.
func general(args []string, stdout io.Writer) (done bool, err error) {
	if len(args) == 0 {
		return false, nil
	}
	rest := args[1:]
	if asksHelp(args) {
		fmt.Fprint(stdout, help())
		return true, nil
	}
	switch args[0] {
	case infoWord:
		return true, info(rest, stdout)
	case psWord:
		return true, ps(rest, stdout)
	case helpWord, versionWord:
		if len(rest) > 0 {
			return true, surplus(args[0], rest[0])
		}
		if args[0] == helpWord {
			fmt.Fprint(stdout, help())
		} else {
			fmt.Fprint(stdout, versionLine())
		}
		return true, nil
	case completionWord:
		return true, complete(rest, stdout)
	}
	return false, nil
}

// asksHelp reports whether a command line asks for help behind the first word of those that start no ranks.
func asksHelp(args []string) bool {
	return len(args) > 1 && slices.Contains(strings.Fields(firstWords()), args[0]) && (args[1] == "--help" || args[1] == "-h")
}

// surplus refuses an argument after a word that takes none.
func surplus(word, arg string) error {
	return fmt.Errorf("%s: unexpected argument %q; a program of that name is started as ./%s", word, arg, word)
}

// complete writes the completion script of a shell.
func complete(args []string, w io.Writer) error {
	shells := map[string]func(io.Writer){"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
	if len(args) != 1 || shells[args[0]] == nil {
		return fmt.Errorf("completion: expected one of bash, zsh and fish, such as in: source <(gaspi-run completion bash)")
	}
	shells[args[0]](w)
	return nil
}

// firstWords are those that may stand in the place of PROGRAM.
func firstWords() string {
	return strings.Join([]string{infoWord, psWord, topWord, helpWord, versionWord, completionWord}, " ")
}

// fixedWords are the values of the flags that take one of a few words.
var fixedWords = map[string]string{
	"transport":  "auto shm tcp rdma",
	"output":     "label raw dir:",
	"bind":       "core none",
	"on-failure": "abort continue",
	"on-stall":   "report abort",
	"stats":      "text json",
}

// A typedFlag is a flag as it is typed.
type typedFlag struct {
	name, short, usage string
	value              bool // an argument follows it
}

func typedFlags() []typedFlag {
	var all []typedFlag
	new(options).flags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		all = append(all, typedFlag{f.Name, f.Shorthand, strings.ReplaceAll(usage, "\n", " "), f.NoOptDefVal == ""})
	})
	return append(all, typedFlag{name: helpWord, usage: "print the help and end"})
}

// spelled are all ways to type flags; with values alone those after which one follows.
func spelled(valuesAlone bool) []string {
	var all []string
	for _, f := range typedFlags() {
		if valuesAlone && !f.value {
			continue
		}
		all = append(all, "--"+f.name)
		if f.short != "" {
			all = append(all, "-"+f.short)
		}
	}
	return all
}

// completeBash completes flags until there is a PROGRAM, and files from then on.
func completeBash(w io.Writer) {
	fmt.Fprintf(w, `_gaspi_run() {
	local i=1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	while ((i < COMP_CWORD)); do
		case ${COMP_WORDS[i]} in
		%s) ((i += 2)) ;;
		-*) ((i += 1)) ;;
		*) break ;;
		esac
	done
	COMPREPLY=()
	if ((i < COMP_CWORD)); then
		test $COMP_CWORD = 2 -a "${COMP_WORDS[1]}" = completion && COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word"))
		return
	fi
	case $before in
`, strings.Join(spelled(true), "|"))
	for _, f := range typedFlags() {
		if words := fixedWords[f.name]; words != "" && f.value {
			fmt.Fprintf(w, "\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", f.name, words)
		}
	}
	fmt.Fprintf(w, `	esac
	((i > COMP_CWORD)) && return
	case $word in
	-*) COMPREPLY=($(compgen -W '%s' -- "$word")) ;;
	*) COMPREPLY=($(compgen -A command -A file -- "$word")); ((COMP_CWORD == 1)) && COMPREPLY+=($(compgen -W '%s' -- "$word")) ;;
	esac
}
complete -o default -F _gaspi_run gaspi-run
`, strings.Join(spelled(false), " "), firstWords())
}

func completeZsh(w io.Writer) {
	quote := strings.NewReplacer(`'`, `'\''`, `[`, `\[`, `]`, `\]`, `:`, `\:`)
	fmt.Fprint(w, `#compdef gaspi-run
_gaspi_run() {
	if [[ $words[2] == completion ]] && ((CURRENT > 2)); then
		((CURRENT > 3)) || compadd -- bash zsh fish
		return
	fi
	_arguments -A '-*' \
`)
	for _, f := range typedFlags() {
		names := []string{"--" + f.name}
		if f.short != "" {
			names = append(names, "-"+f.short)
		}
		for _, name := range names {
			action := ""
			switch words := fixedWords[f.name]; {
			case f.value && words != "":
				action = ":" + f.name + ":(" + strings.ReplaceAll(words, ":", `\:`) + ")"
			case f.value:
				action = ":" + f.name + ":_files"
			}
			fmt.Fprintf(w, "\t\t'%s[%s]%s' \\\n", name, quote.Replace(f.usage), action)
		}
	}
	fmt.Fprintf(w, "\t\t'1:program:_gaspi_run_program' '*:: :_files'\n}\n_gaspi_run_program() {\n\tcompadd -- %s\n\t_command_names -e\n\t_files\n}\ncompdef _gaspi_run gaspi-run\n", firstWords())
}

// completeFish completes flags until there is a PROGRAM, and files from then on.
func completeFish(w io.Writer) {
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	fmt.Fprintf(w, `function __gaspi_run_before_program
	set -l value 0
	for word in (commandline -opc)[2..]
		if test $value = 1
			set value 0
			continue
		end
		switch $word
			case %s
				set value 1
			case '-*'
			case '*'
				return 1
		end
	end
end
complete -c gaspi-run -n 'test (count (commandline -opc)) = 1' -a '%s'
`, strings.Join(spelled(true), " "), firstWords())
	for _, f := range typedFlags() {
		line := "complete -c gaspi-run -n __gaspi_run_before_program -l " + f.name
		if f.short != "" {
			line += " -s " + f.short
		}
		switch words := fixedWords[f.name]; {
		case f.value && words != "":
			line += " -x -a '" + words + "'"
		case f.value:
			line += " -r"
		}
		fmt.Fprintf(w, "%s -d '%s'\n", line, quote.Replace(f.usage))
	}
	fmt.Fprintln(w, "complete -c gaspi-run -n 'test (count (commandline -opc)) = 2; and __fish_seen_subcommand_from completion' -f -a 'bash zsh fish'")
}
