package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// inStep is the variable by which .ci/run capi asks for programs that take minutes.
const inStep = "GASPI_TEST_CAPI"

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// A cLibrary is the library that the Makefile has built, and the compilers of programs with it.
type cLibrary struct {
	dir   string
	flags []string
}

// buildLibrary builds the library with more flags of go build and of compilers.
func buildLibrary(t *testing.T, goflags string, flags ...string) cLibrary {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the library for C is for linux")
	}
	testenv.Need(t, "cc", "make")
	l := cLibrary{t.TempDir(), flags}
	output(t, exec.Command("make", "all", "CC=gcc", "BUILD="+l.dir, "GOFLAGS_EXTRA="+goflags))
	return l
}

// output runs a command and returns its output. The test ends if it fails.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// compile compiles a program of the folder test and returns its path.
func (l cLibrary) compile(t *testing.T, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.ReplaceAll(source, ".", "_"))
	args := []string{"cc", "-std=c99"}
	switch filepath.Ext(source) {
	case ".cpp":
		testenv.Need(t, "g++")
		args = []string{"g++", "-std=c++11"}
	case ".f90":
		testenv.Need(t, "gfortran")
		output(t, exec.Command("make", "fortran", "BUILD="+l.dir))
		args = []string{"gfortran", "-I", l.dir}
	}
	args = append(args, l.flags...)
	args = append(args, "-g", "-O1", "-Wall", "-Iinclude", "-o", program, filepath.Join("test", source),
		"-L"+l.dir, "-lgaspi", "-Wl,-rpath,"+l.dir, "-lpthread", "-lm")
	output(t, exec.Command(args[0], args[1:]...))
	return program
}

// run runs a program as a job and returns its output.
func run(t *testing.T, cfg launcher.Config) (launcher.Result, string) {
	t.Helper()
	var out bytes.Buffer
	cfg.Timeout, cfg.Stdout, cfg.Stderr = testenv.Limit(t), &out, &out
	res, err := launcher.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

// succeeds runs a program as a job whose ranks all end well.
func succeeds(t *testing.T, cfg launcher.Config) {
	t.Helper()
	if res, out := run(t, cfg); res.ExitCode != 0 {
		t.Errorf("exit code %d, %s\n%s", res.ExitCode, res.Sentence, out)
	}
}

// programs lists files of the folder test whose ranks end well, whatever their number.
var programs = []string{
	"config.c", "arguments.c", "transfers.c", "segments.c", "groups.c", "queues.c", "atomics.c", "passive.c", "allreduce.c",
	"statistics.c", "threads.c", "signals.c", "ending.c", "tool.c", "language.cpp", "teams.c", "objects.c", "memory.c", "fortran.f90",
}

func TestPrograms(t *testing.T) {
	testenv.NeedStep(t, inStep, "capi")
	l := buildLibrary(t, "")
	t.Run("exports", func(t *testing.T) { checkExports(t, l) })
	t.Run("headers", checkHeaders)
	for _, source := range programs {
		t.Run(source, func(t *testing.T) {
			program := l.compile(t, source)
			for _, transport := range []string{"shm", "tcp"} {
				for _, n := range []int{1, 2, 3, 4} {
					t.Run(fmt.Sprintf("%s/%d", transport, n), func(t *testing.T) {
						succeeds(t, launcher.Config{Program: program, Ranks: n, Transport: transport})
					})
				}
			}
			t.Run("alone", func(t *testing.T) { output(t, exec.Command(program)) })
		})
	}
	for _, source := range []string{"dead.c", "blocked.c"} {
		t.Run(source, func(t *testing.T) { dead(t, source, l.compile(t, source)) })
	}
	t.Run("installed", func(t *testing.T) { checkInstalled(t, l) })
	t.Run("variables", func(t *testing.T) { variables(t, l.compile(t, "ending.c")) })
}

// dead runs a program whose rank 0 kills the last one.
func dead(t *testing.T, source, program string) {
	for _, transport := range []string{"shm", "tcp"} {
		for _, n := range []int{2, 3} {
			res, out := run(t, launcher.Config{Program: program, Ranks: n, Transport: transport, OnFailure: launcher.Continue})
			if strings.Contains(out, source+":") || res.ExitCode == 0 {
				t.Errorf("%s, %d ranks: exit code %d, want that of the rank that was killed alone\n%s", transport, n, res.ExitCode, out)
			}
		}
	}
}

// checkInstalled installs the library and builds programs as others do: with the shared library by
// its old name, and with the archive. Neither needs anything of this checkout.
func checkInstalled(t *testing.T, l cLibrary) {
	testenv.Need(t, "nm")
	prefix := t.TempDir()
	output(t, exec.Command("make", "install", "CC=gcc", "BUILD="+l.dir, "PREFIX="+prefix))
	lib := filepath.Join(prefix, "lib")
	for _, c := range []struct{ name, module string }{{"gaspi", "gaspi"}, {"GPI2", "GPI-2"}} {
		text, err := os.ReadFile(filepath.Join(lib, "pkgconfig", c.name+".pc"))
		if err != nil || !strings.Contains(string(text), "Name: "+c.module+"\n") || !strings.Contains(string(text), "-l"+c.name) {
			t.Errorf("%s.pc: %v\n%s", c.name, err, text)
		}
	}
	for _, with := range [][]string{
		{"-L" + lib, "-lGPI2", "-lGPI2-dbg", "-Wl,-rpath," + lib},
		{filepath.Join(lib, "libgaspi.a"), "-ldl"},
	} {
		program := filepath.Join(t.TempDir(), "ring")
		args := append([]string{"-std=c99", "-I" + filepath.Join(prefix, "include"), "-o", program, "test/transfers.c"}, with...)
		output(t, exec.Command("cc", append(args, "-lpthread", "-lm")...))
		output(t, exec.Command(filepath.Join(prefix, "bin", "gaspi_run"), "-n", "2", program))
	}
	for line := range strings.Lines(output(t, exec.Command("nm", "-g", "--defined-only", filepath.Join(lib, "libgaspi.a")))) {
		f := strings.Fields(line) // value, type and name; other lines name members
		if len(f) == 3 && !exported(f[2]) && f[2] != "_GLOBAL_OFFSET_TABLE_" {
			t.Errorf("the archive exports %s", f[2])
		}
	}
}

// exported reports whether a name may be seen by programs.
func exported(name string) bool {
	wrappers := []string{"sigaction", "signal", "bsd_signal", "ssignal", "sysv_signal", "__sysv_signal"}
	return strings.HasPrefix(name, "gaspi_") || strings.HasPrefix(name, "pgaspi_") || strings.HasPrefix(name, "gaspigo_") ||
		slices.Contains(wrappers, name)
}

// variables runs a program that sets the variables of a job itself.
func variables(t *testing.T, program string) {
	place, key := testenv.FreeAddress(t), strings.Repeat("0123456789abcdef", 4)
	other := exec.Command(program, "1", place, key)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	output(t, exec.Command(program, "0", place, key))
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}

// checkExports reports names that the library exports and that are neither of its interface
// nor wrappers, and names of GASPI that are not weak.
func checkExports(t *testing.T, l cLibrary) {
	testenv.Need(t, "nm")
	weak, strong := 0, 0
	for line := range strings.Lines(output(t, exec.Command("nm", "-D", "--defined-only", filepath.Join(l.dir, "libgaspi.so")))) {
		f := strings.Fields(line)
		kind, name := f[len(f)-2], f[len(f)-1]
		switch {
		case strings.HasPrefix(name, "pgaspi_") && kind == "T":
			strong++
		case strings.HasPrefix(name, "gaspi_") && kind == "W":
			weak++
		case kind != "T" || !exported(name):
			t.Errorf("%s is exported as %s", name, kind)
		}
	}
	if weak != 88 || strong != 88 {
		t.Errorf("%d weak and %d strong names, want 88 each: 73 of the standard and 15 extensions", weak, strong)
	}
}

// checkHeaders compiles the headers, each alone and all together, as strictly as programs may.
func checkHeaders(t *testing.T) {
	testenv.Need(t, "cc", "g++")
	headers, err := filepath.Glob("include/*.h")
	if err != nil || len(headers) != 6 {
		t.Fatalf("%d headers, want 6: %v", len(headers), err)
	}
	var all strings.Builder
	for _, h := range headers {
		fmt.Fprintf(&all, "#include \"%s\"\n", filepath.Base(h))
	}
	for _, c := range [][]string{
		{"cc", "-x", "c", "-std=c99"}, {"cc", "-x", "c", "-std=c11"}, {"g++", "-x", "c++", "-std=c++98"}, {"g++", "-x", "c++", "-std=c++17"},
	} {
		args := append(slices.Clone(c[1:]), "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-long-long", "-Iinclude", "-fsyntax-only", "-")
		for _, text := range append(strings.SplitAfter(all.String(), "\n"), all.String()) {
			cmd := exec.Command(c[0], args...)
			cmd.Stdin = strings.NewReader(text + "typedef int one;\n")
			output(t, cmd)
		}
	}
}

func TestUnderAddressSanitizer(t *testing.T) {
	testenv.NeedStep(t, inStep, "capi")
	l := buildLibrary(t, "-asan", "-fsanitize=address")
	for _, source := range []string{"transfers.c", "segments.c", "threads.c", "signals.c", "teams.c", "language.cpp"} {
		t.Run(source, func(t *testing.T) {
			program := l.compile(t, source)
			succeeds(t, launcher.Config{Program: program, Ranks: 2, Transport: "shm"})
			succeeds(t, launcher.Config{Program: program, Ranks: 2, Transport: "tcp"})
		})
	}
}

// TestWithMPI runs a program whose processes are ranks of MPI first.
func TestWithMPI(t *testing.T) {
	testenv.NeedStep(t, inStep, "capi")
	testenv.Need(t, "mpicc.openmpi", "mpirun.openmpi", "mpicc.mpich", "mpiexec.mpich")
	l := buildLibrary(t, "")
	for _, c := range []struct {
		compiler string
		start    []string
	}{
		{"mpicc.openmpi", []string{"mpirun.openmpi", "--oversubscribe"}},
		{"mpicc.mpich", []string{"mpiexec.mpich"}},
	} {
		program := filepath.Join(t.TempDir(), "mixed")
		output(t, exec.Command(c.compiler, "-std=gnu99", "-Iinclude", "-o", program, "test/mixed.c", "-L"+l.dir, "-lgaspi", "-Wl,-rpath,"+l.dir))
		for _, n := range []string{"1", "2", "5"} {
			cmd := exec.CommandContext(testenv.Context(t), c.start[0], append(c.start[1:], "-n", n, program)...)
			cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			testenv.KeepInputOpen(t, cmd)
			output(t, cmd)
		}
	}
}

func TestManySignals(t *testing.T) {
	testenv.NeedStep(t, inStep, "capi")
	program := buildLibrary(t, "").compile(t, "signals.c")
	for _, transport := range []string{"shm", "tcp"} {
		succeeds(t, launcher.Config{Program: program, Ranks: 2, Transport: transport, Args: []string{"10000"}})
	}
}
