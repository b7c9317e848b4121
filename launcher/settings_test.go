package launcher

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// A setting is what a field of Config and a variable both say.
type setting struct {
	name   string
	values [2]string // such as a variable can have; a field has the first
	field  func(*Config)
	get    func(Config) string
	free   string // what it is if nobody says it
	always bool   // the variable counts for ranks beside the field
}

var settings = []setting{
	{envTransport, [2]string{"tcp", "shm"}, func(c *Config) { c.Transport = "tcp" }, func(c Config) string { return c.Transport }, "", false},
	{boot.EnvInterface, [2]string{"lo", "127.0.0.1"}, func(c *Config) { c.Interface = "lo" }, func(c Config) string { return c.Interface }, "", false},
	{boot.EnvPorts, [2]string{"7000-7009", "7010-7019"}, func(c *Config) { c.Ports = "7000-7009" }, func(c Config) string { return c.Ports }, "", false},
	{boot.EnvTLS, [2]string{"1", "0"}, func(c *Config) { c.TLS = true }, func(c Config) string { return map[bool]string{false: "0", true: "1"}[c.TLS] }, "0", false},
	{boot.EnvHeartbeat, [2]string{"3s", "0s"}, func(c *Config) { c.Heartbeat = 3 * time.Second }, func(c Config) string { return c.silence().String() }, "10s", false},
	{boot.EnvJoinTimeout, [2]string{"4s", "0s"}, func(c *Config) { c.Node.JoinTimeout = 4 * time.Second }, func(c Config) string { return max(c.Node.JoinTimeout, 0).String() }, "30s", true},
}

// TestFieldsAndVariables has each field say something or not, while the variable of the same
// meaning says nothing, the same, something else, or nonsense: here, in Env, or in both.
func TestFieldsAndVariables(t *testing.T) {
	const nonsense = "/nonsense/"
	for _, s := range settings {
		for _, field := range []bool{false, true} {
			for _, here := range []string{"", s.values[0], s.values[1], nonsense} {
				for _, added := range []string{"", s.values[0], s.values[1], nonsense} {
					t.Run(fmt.Sprintf("%s/field %v/here %q/added %q", s.name, field, here, added), func(t *testing.T) {
						cfg := Config{Program: "true", Ranks: 1}
						if field {
							s.field(&cfg)
						}
						if here != "" {
							t.Setenv(s.name, here)
						}
						said := here
						if added != "" {
							cfg.Env, said = []string{s.name + "=" + added}, added
						}
						want := s.free
						switch {
						case field:
							want = s.values[0]
						case said != "":
							want = said
						}
						got, err := cfg.withDefaults()
						if said == nonsense && (!field || s.always) {
							if err == nil || !strings.Contains(err.Error(), s.name) || !strings.Contains(err.Error(), nonsense) {
								t.Errorf("%v, want an error that names %s and %s", err, s.name, nonsense)
							}
							return
						}
						if err != nil || s.get(got) != want {
							t.Errorf("%q, %v; want %q", s.get(got), err, want)
						}
					})
				}
			}
		}
	}
}

// Goal: the name of a provider that ranks would refuse is refused before any is started.
// Method: names that can be, that cannot be, and an empty one, which counts as none, here and in Env, of which that in Env counts.
func TestProvidersThatCannotBe(t *testing.T) {
	good := []string{"", "tcp", "verbs;ofi_rxm"}
	bad := []string{"/", "tcp/ofi_rxm", "tcp;", "a b", "\xff", strings.Repeat("x", 200)}
	check := func(counts string, cfg Config) {
		t.Helper()
		err := cfg.Check()
		if slices.Contains(good, counts) {
			if err != nil {
				t.Errorf("%q: %v", counts, err)
			}
			return
		}
		want := fmt.Sprintf("GASPI_RDMA_PROVIDER=%.80q: expected the name of a provider of libfabric, such as verbs;ofi_rxm; gaspi-run info lists them", counts)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", counts, err, want)
		}
	}
	for _, here := range slices.Concat(good, bad) {
		t.Setenv(envProvider, here)
		check(here, Config{Program: "true", Ranks: 1})
		for _, added := range slices.Concat(good, bad) {
			check(added, Config{Program: "true", Ranks: 1, Env: []string{envProvider + "=" + added}})
		}
	}
}

// TestRanksHaveTheVariablesOfTheirJob runs ranks of this host, and of several, with each of
// the variables set here, so that they differ from the default.
func TestRanksHaveTheVariablesOfTheirJob(t *testing.T) {
	cases := []struct {
		name   string
		here   map[string]string
		change func(*Config)
		want   string
	}{
		{"variables", map[string]string{boot.EnvTLS: "1", boot.EnvHeartbeat: "30s", envTransport: "tcp"}, func(*Config) {}, "1 30s tcp"},
		{"heartbeat for ever", map[string]string{boot.EnvTLS: "1", boot.EnvHeartbeat: "0s", envTransport: "tcp"}, func(*Config) {}, "1 0s tcp"},
		{"added", map[string]string{boot.EnvTLS: "0", boot.EnvHeartbeat: "30s"}, func(c *Config) {
			c.Env = []string{boot.EnvTLS + "=1", boot.EnvHeartbeat + "=20s", envTransport + "=tcp"}
		}, "1 20s tcp"},
		{"fields", map[string]string{boot.EnvTLS: "0", boot.EnvHeartbeat: "20s", envTransport: "shm"}, func(c *Config) {
			c.TLS, c.Heartbeat, c.Transport = true, 30*time.Second, "tcp"
		}, "1 30s tcp"},
		{"fields beside nonsense", map[string]string{boot.EnvTLS: "x", boot.EnvHeartbeat: "x", envTransport: "x"}, func(c *Config) {
			c.TLS, c.Heartbeat, c.Transport = true, 30*time.Second, "tcp"
		}, "1 30s tcp"},
	}
	for _, c := range cases {
		for _, hosts := range []string{"", "localhost:1,b:1"} {
			t.Run(c.name+" "+hosts, func(t *testing.T) {
				for name, value := range c.here {
					t.Setenv(name, value)
				}
				cfg := shell(2, `echo $GASPI_TLS $GASPI_HEARTBEAT $GASPI_TRANSPORT`)
				c.change(&cfg)
				if hosts != "" {
					cfg.Ranks = 0
					cfg = onHosts(t, cfg, hosts)
				}
				o, err := runJob(t, cfg)
				if err != nil || o.ExitCode != 0 {
					t.Fatalf("%v, %+v", err, o)
				}
				got := slices.Concat(linesOf(o.stdout, 0), linesOf(o.stdout, 1))
				if d := cmp.Diff([]string{c.want, c.want}, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		}
	}
}
