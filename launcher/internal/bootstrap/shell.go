package bootstrap

import (
	"fmt"
	"strings"
)

// stageScript returns what a shell on another host does to run an agent that is
// not installed there: it takes the first line of its input for the agent and
// the rest for the agent's binary, of that many bytes, in a new directory, which
// the agent removes as soon as it runs. It has no single quotes in it, so that
// any shell can be told to pass it on.
func stageScript(args []string, size int) string {
	return strings.Join([]string{
		`umask 077`,
		`d=$(mktemp -d "${TMPDIR:-/tmp}/gaspi-run.XXXXXXXX") || exit 1`,
		`trap "rm -rf \"$d\"" EXIT`,
		`trap "exit 1" HUP INT TERM`,
		`IFS= read -r line`,
		`cat >"$d/gaspi-run" || exit 1`,
		fmt.Sprintf(`test $(wc -c <"$d/gaspi-run") -eq %d || { echo "the copy of gaspi-run is not complete" >&2; exit 1; }`, size),
		`chmod 700 "$d/gaspi-run"`,
		`printf "%s\n" "$line" | "$d/gaspi-run" ` + strings.Join(args, " ") + ` "$d"`,
	}, "; ")
}

// shellLine writes words such that a shell reads them back as they are.
func shellLine(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, shellQuote(w))
	}
	return strings.Join(quoted, " ")
}

func shellQuote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
