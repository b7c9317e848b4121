package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Shells are those that Offered knows.
var Shells = []string{"bash", "zsh", "fish"}

// NeedShell skips the test if a shell is missing.
func NeedShell(t testing.TB, shell string) {
	t.Helper()
	switch shell {
	case "bash":
		Need(t, "bash")
	case "zsh":
		Need(t, "zsh")
	case "fish":
		Need(t, "fish")
	default:
		t.Fatalf("no shell %q", shell)
	}
}

// offerings print what a shell offers for the line in LINE, one in a line, once it has read
// SCRIPT. In each the shell itself completes: zsh in a terminal of its own, in which inner
// runs, since it does so nowhere else.
var offerings = map[string]string{
	"bash": `
		source "$SCRIPT"
		COMP_WORDS=($LINE)
		[[ $LINE != *' ' ]] || COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		by=$(complete -p "${COMP_WORDS[0]}") && by=${by#* -F } && ${by%% *}
		printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `
		zmodload zsh/zpty && zpty shell zsh -f -i
		zpty -w shell 'source $INNER'
		zpty -r shell out $'*ready\r\n*'
		zpty -w -n shell "$LINE"$'\t'
		while zpty -r shell out; do :; done
		cat offered`,
	"fish": `
		source $SCRIPT
		complete -C $LINE | string split -f 1 \t
		true # nothing was split where nothing has a description`,
}

// innerZsh has compinit keep in DUMP what it finds in about a thousand files, for the next line of a test.
const innerZsh = `
PROMPT=
autoload -Uz compinit && compinit -C -d $DUMP
source $SCRIPT
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
compadd() {
	[[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]] || { builtin compadd "$@"; return }
	typeset -a hits
	builtin compadd -O hits "$@"
	print -rl -- $hits >>offered
	builtin compadd "$@"
}
leave() { exit }
comppostfuncs=(leave)
: >offered
print ready
`

// Offered returns, sorted, what a shell offers for the last word of a line, with the
// completion script of a program. It wants NeedShell first.
func Offered(t testing.TB, shell, script, line string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"script": script, "inner": innerZsh} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := map[string][]string{"bash": {"--norc"}, "zsh": {"-f"}, "fish": {"--no-config"}}[shell]
	cmd := exec.CommandContext(t.Context(), shell, append(args, "-c", offerings[shell])...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "LINE="+line, "SCRIPT="+filepath.Join(dir, "script"), "INNER="+filepath.Join(dir, "inner"),
		"DUMP="+filepath.Join(filepath.Dir(dir), "dump")) // directories of one test are beside each other
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%s: %q: %v: %s", shell, line, err, &errs)
	}
	offered := slices.DeleteFunc(strings.Split(string(out), "\n"), func(s string) bool { return s == "" })
	slices.Sort(offered)
	return slices.Compact(offered)
}
