package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// badFlags are command lines that make no sense, and their sentences: the exit code is 2.
var badFlags = []struct{ line, want string }{
	{"", "no PROGRAM was given"},
	{"-n 2", "no PROGRAM was given"},
	{"EMPTY", "no program was given: name a binary or a Go package"},
	{"-n x true", `-n "x": expected a whole number`},
	{"--ranks 2.5 true", `-n "2.5": expected a whole number`},
	{"-n 0 true", "-n 0: a job has 1 to 65536 ranks"},
	{"-n -1 true", "-n -1: a job has 1 to 65536 ranks"},
	{"-n 70000 true", "-n 70000: a job has 1 to 65536 ranks"},
	{"-n 99999999999999999999 true", `-n "99999999999999999999": expected a whole number`},
	{"-np x true", `-n "x": expected a whole number`},
	{"-nprog true", `-n "prog": expected a whole number`},
	{"-np 0 true", "-n 0: a job has 1 to 65536 ranks"},
	{"--np", "flag needs an argument: --np"},
	{"--host a:x true", `list of hosts: host "a:x": "x" slots: expected a number from 1 to 65536`},
	{"help me", `help: unexpected argument "me"; a program of that name is started as ./help`},
	{"version 2", `version: unexpected argument "2"; a program of that name is started as ./version`},
	{"completion", "completion: expected one of bash, zsh and fish, such as in: source <(gaspi-run completion bash)"},
	{"completion tcsh", "completion: expected one of bash, zsh and fish, such as in: source <(gaspi-run completion bash)"},
	{"-n", "flag needs an argument: 'n' in -n"},
	{"--bogus true", "unknown flag: --bogus"},
	{"--rank 4 true", "unknown flag: --rank: is it --ranks?"},
	{"--host-file h true", "unknown flag: --host-file: is it --hostfile?"},
	{"--tarce t true", "unknown flag: --tarce: is it --trace?"},
	{"--h true", "unknown flag: --h"},
	{"--xls true", "unknown flag: --xls: is it --tls?"},
	{"--stats json true", "--stats json: write --stats=json, or ./json for a program"},
	{"--http EMPTY true", `--http "": expected HOST:PORT, or :PORT for this host alone, such as localhost:8080`},
	{"--http 8080 true", `--http "8080": expected HOST:PORT, or :PORT for this host alone, such as localhost:8080`},
	{"--http localhost:http true", `--http "localhost:http": port "http": expected 0 to 65535, where 0 is any that is free`},
	{"--http example.org:80 true", `--http "example.org:80": host "example.org": expected localhost or an address of this host, such as 0.0.0.0 for all`},
	{"--nnodes 2 --node-rank 1 --rendezvous a:1 --key-file k --http :0 true", "--http: node 0 alone sees all ranks; leave it out at node 1"},
	{"--hosts a:x true", `list of hosts: host "a:x": "x" slots: expected a number from 1 to 65536`},
	{"--hosts EMPTY true", `--hosts "": expected NAME:SLOTS`},
	{"--hosts a,, true", `list of hosts "a,,": a name is missing; expected NAME:SLOTS,NAME:SLOTS`},
	{"--hosts -a true", `list of hosts: host "-a": the character '-' at byte 0 is not allowed in the name of a host`},
	{"--hosts a:2 -n 3 true", "3 ranks do not fit into the 2 slots of 1 host: name more hosts, or give them more slots (NAME:SLOTS)"},
	{"--hosts a --hostfile b true", "--hosts and --hostfile: expected one of them"},
	{"--hostfile EMPTY true", `--hostfile "": expected FILE`},
	{"--hostfile nowhere true", "--hostfile: file of hosts \"nowhere\": no such file or directory; expected a file with lines such as: a slots=2"},
	{"--nnodes 0 true", "--nnodes 0: a job has 1 to 65536 nodes"},
	{"--nnodes 2 --hosts a true", "--hosts and --nnodes: expected one of them; with --hosts, gaspi-run is started once, and with --nnodes on every node"},
	{"--nnodes 2 --rendezvous a:1 --key-file k true", "--nnodes: expected --node-rank K, the number of this node from 0, since neither JOB_COMPLETION_INDEX nor SLURM_NODEID says it"},
	{"--nnodes 2 --node-rank 0 true", "--nnodes: expected --rendezvous HOST:PORT, where node 0 is reached, the same on all nodes"},
	{"--nnodes 2 --node-rank 0 --rendezvous a:1 true", "a job on several nodes needs a key, the same on each: --key-file FILE, or GASPI_KEY_FILE or GASPI_KEY in the environment; openssl rand -hex 32 makes one"},
	{"--nnodes 2 --node-rank 0 --rendezvous a:1 --key-file k --transport shm true", "transport shm connects ranks of one host, and these are on 2 nodes: use auto or tcp"},
	{"--nnodes 2 --node-rank 0 --rendezvous a:1 --key-file k --stage true", "nodes start what each of them has, so nothing can be copied to them"},
	{"--nnodes 2 --node-rank 0 --rendezvous a --key-file k true", `rendezvous "a": expected where node 0 is reached, as HOST:PORT, with a port from 1 to 65535`},
	{"--node-rank 2 --nnodes 2 true", "--node-rank 2: the nodes of --nnodes 2 are numbered from 0 to 1"},
	{"--node-rank 1 true", "--node-rank is for a job that is started on each of its nodes: say on how many with --nnodes"},
	{"--rendezvous a:1 true", "--rendezvous is for a job that is started on each of its nodes: say on how many with --nnodes"},
	{"--rendezvous EMPTY --nnodes 2 --node-rank 1 true", "--nnodes: expected --rendezvous HOST:PORT, where node 0 is reached, the same on all nodes"},
	{"--key-file EMPTY --nnodes 2 --node-rank 1 --rendezvous a:1 true", `--key-file "": expected FILE`},
	{"--join-timeout -1s --nnodes 2 --node-rank 1 --rendezvous a:1 --key-file k true", "--join-timeout -1s: expected more than 0, such as 10m, or 0 for ever"},
	{"--join-timeout 5 true", `--join-timeout "5": expected a duration such as 500ms, 30s or 10m`},
	{"--ports EMPTY true", `--ports "": expected LOW-HIGH`},
	{"--ports 9-7 true", `range of ports "9-7": expected LOW-HIGH, two numbers from 1 to 65535 of which the first is not larger`},
	{"--transport infiniband true", `unknown transport "infiniband": expected auto, shm, tcp or rdma`},
	{"--transport shm --hosts a,b true", "transport shm connects ranks of one host, and these are on 2: use auto or tcp"},
	{"--rdma-provider EMPTY true", "--rdma-provider: expected the name of a provider, such as verbs;ofi_rxm; gaspi-run info lists them"},
	{"--rdma-provider / true", `GASPI_RDMA_PROVIDER="/": expected the name of a provider of libfabric, such as verbs;ofi_rxm; gaspi-run info lists them`},
	{"--interface 10.0.0.0/99 true", `network interface "10.0.0.0/99": "10.0.0.0/99" is no network: expected a name, a network such as 10.0.0.0/8, or an address`},
	{"--interface ^lo,, true", `network interface "^lo,,": an empty part of the list: expected a name, a network such as 10.0.0.0/8, or an address`},
	{"--emulate fast true", `--emulate: emulated network: "fast" has no value; expected fields such as latency=100us,bandwidth=150MB/s`},
	{"--tls=maybe true", `--tls "maybe": expected true or false`},
	{"--stage=2 true", `--stage "2": expected true or false`},
	{"--ssh EMPTY true", `--ssh "": expected COMMAND`},
	{`--ssh 'ssh true`, `--ssh "'ssh": the quote ' at byte 0 has no end; quote it as for a shell, such as --ssh 'ssh -o "ProxyCommand=nc %h %p"'`},
	{"--ssh '' true", `--ssh "''": expected COMMAND`},
	{"--transport EMPTY true", `--transport "": expected NAME`},
	{"--interface EMPTY true", `--interface "": expected LIST`},
	{"--heartbeat 1ms true", "--heartbeat 1ms: expected at least 100ms, or 0 for ever"},
	{"--heartbeat -1ns true", "--heartbeat -1ns: expected at least 100ms, or 0 for ever"},
	{"--heartbeat 25h true", "--heartbeat 25h0m0s: expected at most 24h0m0s, or 0 for ever"},
	{"--heartbeat soon true", `--heartbeat "soon": expected a duration such as 500ms, 30s or 10m`},
	{"--output file true", `--output "file": expected label, raw or dir:PATH`},
	{"--output dir: true", `--output "dir:": expected label, raw or dir:PATH`},
	{"--output EMPTY true", `--output "": expected label, raw or dir:PATH`},
	{"--env NO_SUCH_VARIABLE true", "-x NO_SUCH_VARIABLE: there is no variable of that name here; write NO_SUCH_VARIABLE=VALUE"},
	{"-x NO_SUCH_VARIABLE true", "-x NO_SUCH_VARIABLE: there is no variable of that name here; write NO_SUCH_VARIABLE=VALUE"},
	{"--env =A true", `environment entry "=A": expected NAME=VALUE`},
	{"--env EMPTY true", `environment entry "": expected NAME=VALUE`},
	{"--env GASPI_RANK=1 true", `environment entry "GASPI_RANK=1": the launcher sets GASPI_RANK itself`},
	{"--timeout 0 true", "--timeout 0s: expected more than 0, such as 30s or 10m"},
	{"--timeout -5s true", "--timeout -5s: expected more than 0, such as 30s or 10m"},
	{"--timeout 5 true", `--timeout "5": expected a duration such as 500ms, 30s or 10m`},
	{"--bind socket true", `--bind "socket": expected core or none`},
	{"--kill-grace -1s true", "--kill-grace -1s: expected 0 or more"},
	{"--kill-grace long true", `--kill-grace "long": expected a duration such as 500ms, 30s or 10m`},
	{"--stall-timeout -1s true", "--stall-timeout -1s: expected 0 or more"},
	{"--on-stall ignore true", `--on-stall "ignore": expected report or abort`},
	{"--stats=xml true", `--stats="xml": expected text or json`},
	{"--net-stats=x true", `--net-stats "x": expected true or false`},
	{"--trace EMPTY true", `--trace "": expected FILE`},
	{"--stacks EMPTY true", `--stacks "": expected DIR`},
	{"--debug 0,x true", `--debug "0,x": expected ranks such as 0 or 1,3`},
	{"--debug -1 -n 2 true", "rank -1 cannot be debugged: the ranks of the job are 0 to 1"},
	{"--debug 0,2 -n 2 true", "rank 2 cannot be debugged: the ranks of the job are 0 to 1"},
	{"--debug 65536 --nnodes 2 --node-rank 0 --rendezvous a:1 --key-file k true", "rank 65536 cannot be debugged: the ranks of the job are 0 to 65535"},
	{"--watch=x true", `--watch "x": expected true or false`},
	{"--on-failure ignore true", `--on-failure "ignore": expected abort or continue`},
	{"--dry-run=2 true", `--dry-run "2": expected true or false`},
	{"--display-map=x true", `--display-map "x": expected true or false`},
	{"--verbose=loud true", `-v "loud": expected true or false`},
	{"--version=loud", `--version "loud": expected true or false`},
	{"info --hosts a:x", `list of hosts: host "a:x": "x" slots: expected a number from 1 to 65536`},
	{"info me", `info: unexpected argument "me"; a program of that name is started as ./info`},
	{"info --hosts a:2 me too", `info: unexpected argument "me"; a program of that name is started as ./info`},
	{"--version me", `--version: unexpected argument "me"; leave out --version to start a program`},
	{"info --version", `--version: unexpected argument "info"; leave out --version to start a program`},
	{"info --transport x", `unknown transport "x": expected auto, shm, tcp or rdma`},
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, c := range badFlags {
		t.Run(c.line, func(t *testing.T) {
			args := strings.Fields(c.line)
			for i := range args {
				args[i] = strings.TrimPrefix(args[i], "EMPTY")
			}
			checkRefusal(t, start(t, args...), exitUsage, c.want+"; see gaspi-run --help")
		})
	}
}

// TestEveryFlagIsRefusedOnce keeps a new flag from coming without a line above.
func TestEveryFlagIsRefusedOnce(t *testing.T) {
	(&options{}).flags().VisitAll(func(f *pflag.Flag) {
		for _, c := range badFlags {
			if strings.HasPrefix(c.line, "--"+f.Name) {
				return
			}
		}
		t.Errorf("badFlags has no line that begins with --%s", f.Name)
	})
}

// checkRefusal waits for a job that does not run.
func checkRefusal(t *testing.T, l *launch, code int, sentence string) {
	t.Helper()
	got, text := l.wait(), l.complaints()
	if want := "gaspi-run: " + sentence + "\n"; got != code || text != want {
		t.Errorf("exit code %d, stderr %q; want %d, %q", got, text, code, want)
	}
	if line, more := <-l.lines; more {
		t.Errorf("standard output has %q", line)
	}
}

// A badProgram is a PROGRAM of which no rank can be started. make puts it at a path;
// says is the sentence behind the path and a colon.
type badProgram struct {
	name string
	make func(t *testing.T, path string)
	code int
	says string
	// early is the sentence of the launcher where it looks before it starts anything,
	// if it is another; a directory on another host is not taken for a package.
	early string
}

// content makes a file that is marked as a program.
func content(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { writeFile(t, path, text, 0o755) }
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	err := os.WriteFile(path, []byte(text), mode)
	if err == nil {
		err = os.Chmod(path, mode) // whatever the umask is
	}
	if err != nil {
		t.Fatal(err)
	}
}

// badPrograms are all the kinds that there are.
func badPrograms(t *testing.T) []badProgram {
	binary, err := os.ReadFile(gaspiRun)
	if err != nil {
		t.Fatal(err)
	}
	this, machine, other, name := ownMachine(t)
	foreign := bytes.Clone(binary)
	foreign[18], foreign[19] = byte(other), byte(other>>8)
	const cut = "not executable: it is an ELF file that is cut off or damaged; copy or build it again"
	return []badProgram{
		{name: "missing", make: func(*testing.T, string) {}, code: 127,
			says: "no such program: there is no file PATH", early: "no such program: there is no such file or directory"},
		{name: "directory", make: func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, code: 126, says: "not executable: it is a directory; name a binary, or a directory with a Go package",
			early: "not executable: it is a directory without Go files; name a binary, or a directory with a Go package"},
		{name: "not marked", make: func(t *testing.T, path string) { writeFile(t, path, "#!/bin/sh\n", 0o644) }, code: 126,
			says: "not executable: it is a file with mode -rw-r--r--; chmod +x makes a program of it"},
		{name: "empty", make: content(""), code: 126, says: "not executable: the file is empty; copy or build it again"},
		{name: "text", make: content("echo hello\n"), code: 126,
			says: "not executable: it is neither an ELF program nor a script; a script begins with a line such as #!/bin/sh"},
		{name: "no interpreter named", make: content("#!\n"), code: 126,
			says: "not executable: its first line is #! without an interpreter; write one such as #!/bin/sh"},
		{name: "interpreter missing", make: content("#! /nowhere/sh -e\n"), code: 126,
			says: `not executable: its first line names the interpreter "/nowhere/sh", which is not there; install it or correct the line`},
		{name: "interpreter of another system", make: content("#!/bin/sh\r\n"), code: 126,
			says: `not executable: its first line names the interpreter "/bin/sh\r", which is not there; install it or correct the line`},
		{name: "interpreter is a directory", make: content("#!/usr\n"), code: 126,
			says: `not executable: its first line names the interpreter "/usr", which is a directory; install it or correct the line`},
		{name: "interpreter not marked", make: content("#!/etc/passwd\n"), code: 126,
			says: `not executable: its first line names the interpreter "/etc/passwd", which is a file of mode -rw-r--r-- that cannot be executed; install it or correct the line`},
		{name: "another machine", make: content(string(foreign)), code: 126,
			says: "not executable: it is built for " + name + ", and this host is " + machine + "; build it for this one"},
		{name: "header cut", make: content(string(binary[:40])), code: 126, says: cut},
		{name: "segments cut", make: content(string(binary[:len(binary)/8])), code: 126, says: cut},
		{name: "no dynamic loader", make: content(dynamic(this, "/nowhere/ld.so")), code: 126,
			says: "not executable: it needs the dynamic loader /nowhere/ld.so, which is not there; install that, or link the program statically"},
	}
}

// ownMachine is what ELF files are for here, and another machine, with their names.
func ownMachine(t *testing.T) (this elf.Machine, name string, other elf.Machine, otherName string) {
	f, err := elf.Open(gaspiRun)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine == elf.EM_AARCH64 {
		return f.Machine, "arm64", elf.EM_X86_64, "amd64"
	}
	return f.Machine, "amd64", elf.EM_AARCH64, "arm64"
}

// dynamic is a program that nothing but its loader can start.
func dynamic(machine elf.Machine, loader string) string {
	loader += "\x00"
	const headers = 64 + 2*56
	size := uint64(headers + len(loader))
	var b bytes.Buffer
	for _, v := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64,
		},
		elf.Prog64{Type: uint32(elf.PT_INTERP), Flags: uint32(elf.PF_R), Off: headers, Filesz: uint64(len(loader)), Memsz: uint64(len(loader)), Align: 1},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Filesz: size, Memsz: size, Align: 4096},
		[]byte(loader),
	} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// TestProgramsThatCannotBeExecuted starts each kind on this host, on another one that
// has got a good one of its own kind here, and as a copy that was sent there.
func TestProgramsThatCannotBeExecuted(t *testing.T) {
	t.Parallel()
	for _, bad := range badPrograms(t) {
		early := bad.early
		if early == "" {
			early = bad.says
		}
		t.Run(bad.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "program")
			says := func(s string) string { return path + ": " + strings.ReplaceAll(s, "PATH", path) }
			bad.make(t, path)
			checkRefusal(t, start(t, "-n", "2", path), bad.code, says(early))
			checkRefusal(t, start(t, "-n", "2", "--dry-run", path), bad.code, says(early))
			checkRefusal(t, startOnHosts(t, "b:2", path), bad.code, onB(says(early), bad))
			checkRefusal(t, startOnHosts(t, "b:2", "--stage", path), bad.code, onB(says(early), bad))

			there := filepath.Join(dir, "there")
			if bad.code != 127 {
				if err := os.Rename(path, there); err != nil {
					t.Fatal(err)
				}
			}
			writeFile(t, path, "#!/bin/sh\n", 0o755)
			env := sshInPath(t, fmt.Sprintf("#!/bin/sh\nrm '%s'\nmv '%s' '%s' 2>/dev/null\n", path, there, path)+strings.TrimPrefix(fakeSSH, "#!/bin/sh\n"))
			want := "host b: " + says(bad.says)
			if bad.code == 127 {
				want += "; the program and its directory must be there too, or be copied with --stage"
			}
			checkRefusal(t, startIn(t, env, gaspiRun, "--hosts", "b:2", "--interface", "127.0.0.1", path), bad.code, want)
		})
	}
}

// onB is the sentence of what no look at the file here has found: it comes from there.
func onB(sentence string, bad badProgram) string {
	if bad.early != "" || bad.name == "not marked" {
		return sentence
	}
	return "host b: " + sentence
}

// goOfOther is another machine, and a PATH whose go command writes an ELF file of it if GOARCH names it.
// The real one would compile Go's runtime for it first, which tests nothing of this program.
func goOfOther(t *testing.T, path string) (name, with string) {
	t.Helper()
	_, _, other, name := ownMachine(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "foreign"), dynamic(other, "/nowhere/ld.so"), 0o644)
	writeFile(t, filepath.Join(dir, "go"), `#!/bin/sh
[ "$1 $GOARCH" = "build `+name+`" ] || exit 1
while [ "$1" != -o ]; do shift; done
cat '`+dir+`/foreign' >"$2"
`, 0o755)
	return name, dir + ":" + path
}

// TestPackagesThatCannotBeBuilt also has what is found before a job begins, by name.
func TestPackagesThatCannotBeBuilt(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":          "module example.test/m\n\ngo 1.21\n",
		"broken/main.go":  "package main\n\nfunc main() { undefined() }\n",
		"library/code.go": "package library\n",
		"fine/main.go":    "package main\n\nfunc main() {}\n",
		"bin/marked":      "#!/bin/sh\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, path), text, 0o644)
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -mod=mod")
	path := os.Getenv("PATH")
	otherName, otherGo := goOfOther(t, path)
	cases := []struct {
		program, path, goarch string
		code                  int
		says                  string // all that is said; the go command says more than its first words
	}{
		{program: "./broken", code: 1, says: "# example.test/m/broken\n"},
		{program: "./library", code: 126, says: "gaspi-run: ./library: not executable: it is a Go package that gives no program for this system; its name must be main, and GOOS, if it is set, linux\n"},
		{program: "./fine", goarch: otherName, path: otherGo, code: 126, says: "gaspi-run: ./fine: not executable: it is built for " + otherName + ", and this host is "},
		{program: "./fine", path: filepath.Join(dir, "bin"), code: 126, says: "gaspi-run: ./fine: not executable: it is a Go package, and the go command to build it is not in PATH; install Go, or build the package elsewhere\n"},
		{program: "nowhere/no/package", code: 127, says: "gaspi-run: nowhere/no/package: no such program: it is neither a file nor a directory, and no import path that the go command knows here: package nowhere/no/package is not in std"},
		{program: "nope-nope", code: 127, says: "gaspi-run: nope-nope: no such program in PATH, and no directory with a Go package is here by that name\n"},
		{program: "go.mod", code: 127, says: "gaspi-run: go.mod: no such program in PATH; for the file in this directory write ./go.mod\n"},
		{program: "./go.mod/x", code: 127, says: "gaspi-run: ./go.mod/x: no such program: not a directory\n"},
		{program: "./" + strings.Repeat("x", 300), code: 127, says: "gaspi-run: ./" + strings.Repeat("x", 300) + ": no such program: file name too long\n"},
		{program: "marked", path: path + ":" + filepath.Join(dir, "bin"), code: 126, says: "gaspi-run: " + filepath.Join(dir, "bin/marked") + ": not executable: it is a file with mode -rw-r--r--; chmod +x makes a program of it\n"},
		{program: "/dev/null", code: 126, says: "gaspi-run: /dev/null: not executable: it is a device; name a binary, or a directory with a Go package\n"},
	}
	for _, c := range cases {
		t.Run(c.program, func(t *testing.T) {
			if c.path != "" {
				t.Setenv("PATH", c.path)
			}
			if c.goarch != "" {
				t.Setenv("GOARCH", c.goarch)
			}
			l := start(t, "-n", "2", c.program)
			if code := l.wait(); code != c.code || !strings.HasPrefix(l.complaints(), c.says) {
				t.Errorf("exit code %d, stderr %q; want %d, %q", code, l.stderr, c.code, c.says)
			}
		})
	}
}

// TestProgramThatCanOnlyBeExecuted runs one that no process of this user can read.
func TestProgramThatCanOnlyBeExecuted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	binary, err := os.ReadFile(gaspiRun)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(binary), 0o111)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	rank := filepath.Join(dir, "rank")
	writeFile(t, rank, string(self), 0o111)
	as := []string{gaspiRun}
	if f, err := os.Open(path); err == nil { // as root, who may read everything
		f.Close()
		testenv.Need(t, "setpriv")
		for _, d := range []string{filepath.Dir(gaspiRun), filepath.Dir(dir), dir} {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		testenv.NeedSuccess(t, "reach the temporary directory as another user", "setpriv", "--reuid=65534", "--clear-groups", "test", "-x", path)
		as = []string{"setpriv", "--reuid=65534", "--clear-groups", gaspiRun}
	}
	run := func(args ...string) *launch {
		return startIn(t, sshInPath(t, fakeSSH), as[0], append(as[1:], args...)...)
	}
	l := run("-n", "2", path, "--version")
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d, stderr %q", code, l.stderr)
	}
	ranks := func(transport string, code int, says string) {
		t.Helper()
		l := run("-n", "2", "--transport", transport, "--env", testenv.AsRole("barriers", "at once"), rank)
		if got := l.wait(); got != code || !strings.Contains(l.stderr.String(), says) {
			t.Errorf("%s: exit code %d, stderr %q; want %d, %q", transport, got, l.stderr, code, says)
		}
	}
	ranks("tcp", 0, "")
	ranks("shm", 1, "permission denied: the system keeps the files of this process from others of its user, as it does with a program that can be executed and not read")
	checkRefusal(t, run("--hosts", "b", "--interface", "127.0.0.1", "--stage", path, "--version"), 126,
		path+": not executable: it cannot be read, to be copied to other hosts: permission denied; chmod +r, or install it there and leave out --stage")
}

// TestTooManyOpenFiles starts more ranks than there may be open files for.
func TestTooManyOpenFiles(t *testing.T) {
	l := startCommand(t, "sh", "-c", `ulimit -n 64; exec "$GASPI_RUN" -n 40 sleep 1000`)
	want := "too many open files: 40 ranks of one host take about 232 open files here, and 64 are allowed; raise the hard limit (ulimit -Hn 232 as root, "
	if code, text := l.wait(), l.complaints(); code != 1 || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
		t.Errorf("exit code %d, stderr %q; want 1, %q", code, text, want)
	}
	// The number is enough, and a soft limit is raised.
	for _, limit := range []string{"ulimit -n 232", "ulimit -Sn 64; ulimit -Hn 232"} {
		l = startCommand(t, "sh", "-c", limit+`; exec "$GASPI_RUN" -n 40 sh -c 'echo ready; read x; exit 0'`)
		if code, text := l.wait(), l.complaints(); code != 0 || text != "" {
			t.Errorf("%s: exit code %d, stderr %q", limit, code, text)
		}
	}
}
