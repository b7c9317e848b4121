package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(testenv.Waiting{M: m}, map[string]testenv.Role{
		"child": joined(child), "stranger": joined(stranger), "heir": joined(heir), "task": joined(task), "holder": joined(holder),
	})
}

// joined returns the role of a process that a launcher, or another starter, has started.
func joined(play func(Session) error) testenv.Role {
	return func(ctx context.Context, _ []string) error {
		s, err := FromEnvironment(ctx, nil, func(line string) { fmt.Println(line) })
		if err != nil {
			return err
		}
		if s == nil {
			return errors.New(alone)
		}
		return play(s)
	}
}

// alone is the error of a role that nobody has started as a rank of several.
const alone = "this process is no rank"

// child says who it is, and tells what its own children would inherit.
func child(s Session) error {
	_, inherited := os.LookupEnv(EnvFD)
	_, again := FromEnvironment(context.Background(), nil, nil)
	name, _ := os.ReadFile("/proc/self/comm")
	open, err := exec.Command("sh", "-c", "test -e /proc/self/fd/3; echo $?").Output()
	fmt.Printf("%+v\n%v\n%v\n%s%s%v\n", s.Info(), inherited, again, name, open, err)
	return nil
}

func TestFromEnvironment(t *testing.T) {
	s := startServer(t, 2)
	conn, err := s.Attach(1)
	if err != nil {
		t.Fatal(err)
	}
	info := Info{Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2, Job: s.job, Host: "h-1"}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", self.Fd()))
	cmd.Args = []string{"/some/where/solver"}
	cmd.Env = append(append(os.Environ(), testenv.AsRole("child")), info.Environ(3)...)
	cmd.ExtraFiles = []*os.File{conn}
	out, err := cmd.CombinedOutput()
	conn.Close()
	want := fmt.Sprintf("%+v\nfalse\nGASPI_RENDEZVOUS and GASPI_KEY_FILE (or GASPI_KEY) are not set although GASPI_RANK, GASPI_SIZE, GASPI_LOCAL_RANK, GASPI_LOCAL_SIZE and GASPI_JOB are: start the program with gaspi-run, or set all of GASPI_RANK, GASPI_SIZE, GASPI_RENDEZVOUS and GASPI_KEY_FILE for a rank that joins over a network, or unset all GASPI_ variables to run it alone (a child of a rank is no rank)\nsolver\n1\n<nil>\n", info)
	if d := cmp.Diff(want, string(out)); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestFromEnvironmentAlone(t *testing.T) {
	if s, err := FromEnvironment(t.Context(), nil, nil); s != nil || err != nil {
		t.Errorf("%v, %v; want nothing in a process that nobody started as a rank", s, err)
	}
}

func TestFromEnvironmentWithoutConnection(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, fd := range []int{int(file.Fd()), 999} {
		for _, kv := range (Info{Size: 1, LocalSize: 1, Job: "j"}).Environ(fd) {
			k, v, _ := strings.Cut(kv, "=")
			t.Setenv(k, v)
		}
		if s, err := FromEnvironment(t.Context(), nil, nil); s != nil || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("GASPI_BOOT_FD=%d is not the connection of rank 0 of 1 to gaspi-run: ", fd)) {
			t.Errorf("descriptor %d: %v, %v", fd, s, err)
		}
	}
}

func TestParseEnvironment(t *testing.T) {
	good := map[string]string{EnvRank: "2", EnvSize: "6", EnvLocalRank: "0", EnvLocalSize: "3", EnvJob: "a-1", EnvFD: "5"}
	cases := []struct {
		name, variable, value string // value "-" removes it
		want                  string
	}{
		{name: "good"},
		{"no rank", EnvRank, "-", "GASPI_RANK is not set although GASPI_SIZE"},
		{"no descriptor", EnvFD, "-", "GASPI_BOOT_FD is not set"},
		{"rank is no number", EnvRank, "two", `GASPI_RANK="two": expected a number from 0 to 5`},
		{"negative rank", EnvRank, "-1", `GASPI_RANK="-1"`},
		{"rank too large", EnvRank, "6", `GASPI_RANK="6"`},
		{"empty rank", EnvRank, "", `GASPI_RANK=""`},
		{"no ranks", EnvSize, "0", `GASPI_SIZE="0": expected a number from 1`},
		{"size overflows", EnvSize, "99999999999999999999", "GASPI_SIZE="},
		{"local rank too large", EnvLocalRank, "3", `GASPI_LOCAL_RANK="3": expected a number from 0 to 2`},
		{"more local ranks than ranks", EnvLocalSize, "7", `GASPI_LOCAL_SIZE="7": expected a number from 1 to 6`},
		{"standard descriptor", EnvFD, "2", `GASPI_BOOT_FD="2": expected a number from 3`},
		{"empty job", EnvJob, "", "GASPI_JOB: job id"},
		{"empty host", EnvHost, "", `GASPI_HOST="": expected`},
		{"long host", EnvHost, strings.Repeat("h", 256), "1 to 255 bytes"},
		{"job is a path", EnvJob, "a/b", `GASPI_JOB: job id "a/b"`},
	}
	for _, c := range cases {
		info, fd, err := parseEnvironment(func(name string) (string, bool) {
			v, ok := good[name]
			if name == c.variable && name != "" {
				return c.value, c.value != "-"
			}
			return v, ok
		})
		if c.want == "" {
			want := Info{Rank: 2, Size: 6, LocalRank: 0, LocalSize: 3, Job: "a-1", Host: "0"}
			if info != want || fd != 5 || err != nil {
				t.Errorf("%s: %+v, %d, %v; want %+v, 5", c.name, info, fd, err, want)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}
