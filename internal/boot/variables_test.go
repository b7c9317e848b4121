package boot

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestParseNetwork(t *testing.T) {
	key := auth.NewKey()
	least := map[string]string{EnvRank: "0", EnvSize: "4", EnvRendezvous: "h1:7117", EnvKeyFile: "k"}
	type want struct {
		info      Info
		addresses string
		secure    bool
		patience  time.Duration
		serves    bool
		heartbeat time.Duration
	}
	basic := want{
		info:      Info{Size: 4, LocalSize: 1, Job: key.JobID(), Host: "rank-0"},
		addresses: "h1:7117", patience: 30 * time.Second, serves: true, heartbeat: 10 * time.Second,
	}
	launched, full := basic, basic
	launched.serves = false
	full.info = Info{Rank: 3, Size: 4, LocalRank: 1, LocalSize: 2, Job: "j-1", Host: "b"}
	full.addresses, full.secure, full.patience, full.serves, full.heartbeat = "[fd00::1]:1 10.0.0.1:65535", true, time.Minute, false, 0
	for _, c := range []struct {
		name string
		more map[string]string
		want want
	}{
		{"least", nil, basic},
		{"launched", map[string]string{EnvServer: "launcher"}, launched},
		{"full", map[string]string{
			EnvRank: "3", EnvLocalRank: "1", EnvLocalSize: "2", EnvJob: "j-1", EnvHost: "b", EnvRendezvous: "[fd00::1]:1, 10.0.0.1:65535",
			EnvServer: "rank0", EnvTLS: "1", EnvHeartbeat: "0", EnvJoinTimeout: "1m",
		}, full},
	} {
		env := maps.Clone(least)
		maps.Copy(env, c.more)
		p, err := parseNetwork(newEnvironment(lookupIn(env)), auth.Credentials{Key: key}, reports{})
		got := want{p.info, strings.Join(p.meeting.addresses, " "), p.meeting.secure, p.meeting.patience, p.serves, p.heartbeat}
		if err != nil || got != c.want || p.meeting.proof.Key != key {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestParseNetworkRefuses(t *testing.T) {
	least := map[string]string{EnvRank: "0", EnvSize: "4", EnvRendezvous: "h1:7117", EnvKeyFile: "k"}
	for _, c := range []struct{ variable, value, want string }{ // value "-" removes it
		{EnvRank, "-", "GASPI_RANK is not set although GASPI_SIZE, GASPI_RENDEZVOUS and GASPI_KEY_FILE are: start the program with gaspi-run"},
		{EnvSize, "-", "GASPI_SIZE is not set"},
		{EnvRendezvous, "-", "GASPI_RENDEZVOUS is not set"},
		{EnvRank, "4", `GASPI_RANK="4": expected a number from 0 to 3`},
		{EnvSize, "0", `GASPI_SIZE="0"`},
		{EnvLocalSize, "5", `GASPI_LOCAL_SIZE="5": expected a number from 1 to 4`},
		{EnvLocalRank, "1", `GASPI_LOCAL_RANK="1": expected a number from 0 to 0`},
		{EnvJob, "a/b", "GASPI_JOB: job id"},
		{EnvHost, "", `GASPI_HOST=""`},
		{EnvRendezvous, "", `GASPI_RENDEZVOUS="": expected where rank 0 can be reached, as host:port`},
		{EnvRendezvous, "h1", `GASPI_RENDEZVOUS="h1"`},
		{EnvRendezvous, "h1:0", `GASPI_RENDEZVOUS="h1:0"`},
		{EnvRendezvous, "h1:65536", "port from 1 to 65535"},
		{EnvRendezvous, ":7117", "host:port"},
		{EnvRendezvous, "h1:7117,", "host:port"},
		{EnvRendezvous, "[h1]]:7117", "host:port"},
		{EnvRendezvous, "h 1:7117", "host:port"},
		{EnvRendezvous, "224.0.0.1:7117", `GASPI_RENDEZVOUS="224.0.0.1:7117": expected where rank 0 can be reached, as host:port, with the name or address of one host`},
		{EnvRendezvous, "255.255.255.255:7117", "address of one host"},
		{EnvRendezvous, "h1:7117,[ff02::1%eth0]:7117", "address of one host"},
		{EnvServer, "me", `GASPI_SERVER="me": expected rank0 or launcher`},
		{EnvTLS, "yes", `GASPI_TLS="yes": expected 1 for yes or 0 for no`},
		{EnvHeartbeat, "10", `GASPI_HEARTBEAT="10": expected a time from 100ms to 24h such as 10s, or 0 for no limit`},
		{EnvHeartbeat, "1ms", `GASPI_HEARTBEAT="1ms"`},
		{EnvHeartbeat, "9999999h", `GASPI_HEARTBEAT="9999999h": expected a time from 100ms to 24h`},
		{EnvHeartbeat, "24h1ns", "from 100ms to 24h"},
		{EnvHeartbeat, "", "from 100ms to 24h"},
		{EnvJoinTimeout, "9999h", "from 1s to 8760h"},
		{EnvHeartbeat, "-1s", `GASPI_HEARTBEAT="-1s"`},
		{EnvJoinTimeout, "soon", `GASPI_JOIN_TIMEOUT="soon": expected a time from 1s to 8760h such as 30s`},
	} {
		env := maps.Clone(least)
		env[c.variable] = c.value
		if c.value == "-" {
			delete(env, c.variable)
		}
		v := newEnvironment(lookupIn(env))
		err := v.complete()
		if err == nil {
			_, err = parseNetwork(v, auth.Credentials{Key: auth.NewKey()}, reports{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%q: %v, want an error with %q", c.variable, c.value, err, c.want)
		}
	}
}

func TestKeyFileThatIsNone(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("password"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvRank, "0")
	t.Setenv(EnvSize, "2")
	t.Setenv(EnvRendezvous, "127.0.0.1:7117")
	for _, c := range []struct{ name, file, want string }{
		{"not set", "", "GASPI_KEY_FILE (or GASPI_KEY) is not set although GASPI_RANK, GASPI_SIZE and GASPI_RENDEZVOUS are"},
		{"not there", bad + "x", fmt.Sprintf("GASPI_KEY_FILE=%q: no such file or directory", bad+"x")},
		{"no key in it", bad, "64 hexadecimal digits; this text of 8 bytes is none"},
	} {
		if c.file != "" {
			t.Setenv(EnvKeyFile, c.file)
		}
		if s, err := FromEnvironment(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, s, err, c.want)
		}
	}
}

// heir is a rank that got its key through a descriptor: it says what a child of
// it would find.
func heir(s Session) error {
	var left []string
	for _, name := range []string{EnvKeyFile, EnvRendezvous} {
		if _, ok := os.LookupEnv(name); ok {
			left = append(left, name)
		}
	}
	is, _ := os.Readlink("/proc/self/fd/3") // it may be another thing by now
	fmt.Println(s.Info().Job == s.Credentials().Key.JobID(), left, strings.HasPrefix(is, "pipe:"), s.Close())
	return nil
}

func TestInheritedKeyIsNotInheritedAgain(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fmt.Fprintln(w, auth.NewKey().Text())
	w.Close()
	cmd := testenv.Command(t.Context(), "heir")
	cmd.Env = append(cmd.Env, EnvRank+"=0", EnvSize+"=1", EnvRendezvous+"="+testenv.FreeAddress(t), EnvKeyFile+"=/proc/self/fd/3")
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.CombinedOutput()
	if d := cmp.Diff("true [] false <nil>\n", string(out)); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}
