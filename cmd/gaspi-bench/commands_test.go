package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// command runs general in this process.
func command(args ...string) (stdout, stderr string, code int, done bool) {
	var out, errs bytes.Buffer
	code, done = general(args, &out, &errs)
	return out.String(), errs.String(), code, done
}

func TestGeneral(t *testing.T) {
	for _, c := range []struct {
		args       string
		code       int
		want, errs string
	}{
		{"--version", 0, "gaspi-bench ", ""},
		{"version", 0, "gaspi-bench ", ""},
		{"version now", exitUsage, "", `gaspi-bench: unexpected argument "now"; see gaspi-bench --help`},
		{"help", 0, "Usage: gaspi-bench OPERATION [flags]", ""},
		{"help latency", 0, "Usage: gaspi-bench latency [flags]", ""},
		{"help dnn", 0, "Usage: gaspi-bench dnn [flags]", ""},
		{"help figure", 0, "Usage: gaspi-bench figure NAME [flags]", ""},
		{"help report", 0, "Usage: gaspi-bench report [flags]", ""},
		{"help latencie", exitUsage, "", `gaspi-bench: there is no help on "latencie": is it latency?; see gaspi-bench --help`},
		{"help frobnicate", exitUsage, "", `gaspi-bench: there is no help on "frobnicate"; choose one of latency, `},
		{"help latency barrier", exitUsage, "", `gaspi-bench: unexpected argument "barrier"; see gaspi-bench --help`},
		{"completion", exitUsage, "", "gaspi-bench: completion: name a shell, one of bash, zsh and fish; such as: source <(gaspi-bench completion bash)"},
		{"completion csh", exitUsage, "", "gaspi-bench: completion: name a shell"},
		{"completion bash fish", exitUsage, "", `gaspi-bench: unexpected argument "fish"`},
	} {
		stdout, stderr, code, done := command(strings.Fields(c.args)...)
		if code != c.code || !done || !strings.HasPrefix(stdout, c.want) || !strings.HasPrefix(stderr, c.errs) ||
			(stdout == "") != (c.want == "") || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: code %d, said %q, and printed %.100s", c.args, code, stderr, stdout)
		}
	}
	for _, args := range [][]string{nil, {"latency"}, {"latencie", "help"}, {"figure", "x"}} {
		if _, _, _, done := command(args...); done {
			t.Errorf("%q is taken for a command of its own", args)
		}
	}
}

// Goal: output that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "help", "help latency", "--version", "version", "completion bash", "completion zsh", "completion fish",
		"latency --help", "dnn --help", "figure --help", "report --help", "figure --list"} {
		stderr, code := testenv.OnFullDisk(t, benchCommand(t, strings.Fields(args)))
		if code != exitFailed || !strings.HasSuffix(stderr, "write /dev/stdout: no space left on device\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, stderr %q; want %d and one sentence", args, code, stderr, exitFailed)
		}
	}
}

// TestHelpOfEachCommand asks each command itself; the help of all names them.
func TestHelpOfEachCommand(t *testing.T) {
	for _, name := range commandNames() {
		stdout, stderr, code := gaspiBench(t, name, "--help")
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: gaspi-bench "+name) {
			t.Errorf("%s --help: code %d, %s%.200s", name, code, stderr, stdout)
		}
		if !strings.Contains(help(), "\n  "+name+": ") {
			t.Errorf("gaspi-bench --help does not know %s", name)
		}
	}
	if stdout, _, code := gaspiBench(t, "--time", "1s", "allreduce", "-h"); code != 0 || !strings.HasPrefix(stdout, "Usage: gaspi-bench allreduce") {
		t.Errorf("flags before the operation: code %d, %.200s", code, stdout)
	}
}

// someValues are of flags that need another value than a file name's to be understood.
var someValues = map[string]string{
	"n": "2", "transport": "shm", "emulate": "latency=1ms", "bind": "none", "sizes": "8", "time": "1s", "osu": "true", "algorithm": "auto",
	"dtype": "float64", "op": "sum", "segments": "2", "segment-size": "8", "threshold": "0.5", "processes": "0.5", "root": "0",
	"plain": "true", "plan": "true", "no-op": "true", "fold-rate": "1MiB", "explain": "true", "interval": "1ms", "static": "auto",
	"chunk": "64", "window": "1", "inline": "64", "peer": "openmpi", "peer-algorithm": "openmpi:ring", "peer-best": "true", "peer-segments": "2",
	"peer-limit": "2s", "repetitions": "1", "verify": "true", "side": "gaspi",
}

// TestHelpShowsWhatIsTaken gives every flag to every operation: those that its help shows
// are taken, the others are refused.
func TestHelpShowsWhatIsTaken(t *testing.T) {
	for _, op := range operations() {
		flagsOf(op).VisitAll(func(flag *pflag.Flag) {
			value, ok := someValues[flag.Name]
			if !ok {
				value = "file"
			}
			args := []string{op.Name, "--" + flag.Name + "=" + value}
			switch {
			case op.maybe && slices.Contains(collectiveNames(), flag.Name):
				args = append(args, "--algorithm=auto")
			case strings.HasPrefix(flag.Name, "peer-") || flag.Name == "repetitions":
				args = append(args, "--peer=openmpi")
			}
			_, err := parse(args)
			if (err != nil) != flag.Hidden {
				t.Errorf("%q: %v; hidden from the help: %v", args, err, flag.Hidden)
			}
		})
	}
}

// TestCompletion asks each shell itself; its script names every command and flag.
func TestCompletion(t *testing.T) {
	for _, shell := range testenv.Shells {
		t.Run(shell, func(t *testing.T) {
			script, stderr, code, _ := command("completion", shell)
			if code != 0 || stderr != "" {
				t.Fatalf("code %d: %s", code, stderr)
			}
			for _, name := range commandNames() {
				flags, _ := visible(name)
				for _, flag := range flags {
					if !strings.Contains(script, strings.TrimLeft(flag, "-")) || !strings.Contains(script, name) {
						t.Errorf("%s %s is missing", name, flag)
					}
				}
			}
			testenv.NeedShell(t, shell)
			for typed, want := range map[string]string{
				"gaspi-bench lat":                 "latency",
				"gaspi-bench fig":                 "figure",
				"gaspi-bench allreduce --algo":    "--algorithm",
				"gaspi-bench latency --algo":      "",
				"gaspi-bench report --bud":        "--budget",
				"gaspi-bench completion f":        "fish",
				"gaspi-bench help object-roundtr": "object-roundtrip",
			} {
				if got := strings.Join(testenv.Offered(t, shell, script, typed), " "); got != want {
					t.Errorf("%q completes to %q, want %q", typed, got, want)
				}
			}
		})
	}
}
