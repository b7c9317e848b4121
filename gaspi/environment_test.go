package gaspi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestGASPIErrEnvVariablesThatMakeNoSense gives each variable values that mean nothing. Init ends with one
// line that names the variable and quotes the value, or the part of it that is wrong, and
// shortens a long one.
func TestGASPIErrEnvVariablesThatMakeNoSense(t *testing.T) {
	long := strings.Repeat("9", 1000)
	values := []string{"nonsense", "-1", "1.5e", " x ", "\u00e9\u00e9", "a\nb", "a,b", "=", long}
	joins := []string{"GASPI_RANK=0", "GASPI_SIZE=1", "GASPI_RENDEZVOUS=127.0.0.1:1"}
	key := "GASPI_KEY=" + fmt.Sprintf("%064x", 7)
	for _, c := range []struct {
		name string
		with []string // what has to be set besides
		more []string // further values that mean nothing
		fine []string // those of values that mean something
	}{
		{"GASPI_TRANSPORT", nil, []string{"TCP", "tcp "}, nil},
		{"GASPI_RDMA_PROVIDER", nil, []string{"tcp;", ";tcp", "tcp;;ofi_rxm", "tcp/ofi_rxm", strings.Repeat("tcp;", 99) + "tcp"}, []string{"nonsense"}},
		{"GASPI_EMULATE", nil, []string{"latency=", "latency=1us,latency=1us", "loss=1", "latency=1us," + long + "=1", "latency=" + long}, nil},
		{"GASPI_INTERFACE", []string{"GASPI_TRANSPORT=tcp"}, []string{"10.0.0.0/99", "^"}, nil},
		{"GASPI_TCP_CONGESTION", nil, []string{"CUBIC"}, nil},
		{"GASPI_VERBOSE", nil, []string{"2", "true", "yes"}, nil},
		{"GASPI_LOG", nil, []string{"warn", "info,", "info,shm", "coll"}, nil},
		{"GASPI_LOCAL_CORES", nil, []string{"0", "2 "}, nil},
		{"GASPI_TLS", nil, []string{"2", "true"}, nil},
		{"GASPI_PORTS", nil, []string{"0-1", "9-7", "70000"}, nil},
		{"GASPI_KEY_FILE", joins, []string{"/dev/zero", "/"}, nil},
		{"GASPI_JOB", append(slices.Clone(joins), key), []string{"a/b", strings.Repeat("\u00e9", 40)}, []string{"nonsense", "-1"}},
		{"GASPI_HOST", append(slices.Clone(joins), key), []string{"\xff"}, values[:len(values)-1]},
		{"GASPI_HEARTBEAT", append(slices.Clone(joins), key), []string{"1ns", "1"}, nil},
		{"GASPI_JOIN_TIMEOUT", append(slices.Clone(joins), key), []string{"1ns", "1"}, nil},
	} {
		for _, value := range append(slices.Clone(values), c.more...) {
			if slices.Contains(c.fine, value) {
				continue
			}
			t.Run(fmt.Sprintf("%s=%.20q", c.name, value), func(t *testing.T) {
				for _, also := range c.with {
					name, value, _ := strings.Cut(also, "=")
					t.Setenv(name, value)
				}
				t.Setenv(c.name, value)
				p, err := gaspi.Init(t.Context(), gaspi.Config{})
				if err == nil {
					p.Close()
					t.Fatal("Init has taken it")
				}
				if text := err.Error(); !strings.Contains(text, c.name) || !strings.Contains(text, `"`) || strings.Contains(text, "\n") || strings.Contains(text, strings.Repeat("9", 300)) {
					t.Errorf("got %.600q, want one line with %s and its value, which is shortened", text, c.name)
				}
			})
		}
	}
}

// A value from the program is no value of a variable.
func TestFieldsThatMakeNoSense(t *testing.T) {
	for want, cfg := range map[string]gaspi.Config{
		`gaspi: Config.Transport="x": expected auto, shm, tcp, rdma or loopback`:             {Transport: "x"},
		`gaspi: Config.Emulate: emulated network: "x" has no value; expected fields such as`: {Emulate: "x"},
		`gaspi: Config.RDMAProvider="tcp;": expected the name of a provider of libfabric`:    {RDMAProvider: "tcp;"},
		`Config.Interface: network interface "x,y": there is no "x"`:                         {Interface: "x,y", Transport: "tcp"},
	} {
		if p, err := gaspi.Init(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want an error with %q", p, err, want)
		}
	}
}
