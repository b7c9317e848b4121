package launcher

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// These are read by package gaspi, too.
const (
	envTransport = "GASPI_TRANSPORT"
	envProvider  = "GASPI_RDMA_PROVIDER"
)

// transports are the values of Config.Transport.
var transports = []string{"", "auto", "shm", "tcp", transportRDMA}

const (
	transportRDMA     = "rdma"     // which programs have only if they were built with it
	transportLoopback = "loopback" // of a single rank, which the variable alone can name

	transportWords = "auto, shm, tcp or rdma"
)

// variable returns what ranks find in a variable of their environment, but for what the
// launcher itself sets there.
func (c Config) variable(name string) (value string, set bool) {
	value, set = os.LookupEnv(name)
	for _, entry := range c.Env {
		if own, ok := strings.CutPrefix(entry, name+"="); ok {
			value, set = own, true
		}
	}
	return value, set
}

// heeding returns a copy in which the variables of the ranks' environment fill in what the
// fields of the same meaning leave open. A variable is not looked up where a field says it. The
// error names the variable that makes no sense; defaults take its place in the copy.
func (c Config) heeding() (Config, error) {
	s, err := boot.ReadSettings(func(name string) (string, bool) {
		if name == boot.EnvTLS && c.TLS || name == boot.EnvHeartbeat && c.Heartbeat != 0 || name == boot.EnvPorts && c.Ports != "" {
			return "", false
		}
		return c.variable(name)
	})
	c.TLS = c.TLS || s.TLS
	if c.Heartbeat == 0 {
		c.Heartbeat = cmp.Or(s.Heartbeat, NoHeartbeat)
	}
	if c.Ports == "" && err == nil {
		c.Ports, _ = c.variable(boot.EnvPorts)
	}
	if c.Node.JoinTimeout == 0 {
		c.Node.JoinTimeout = cmp.Or(s.JoinTimeout, -1)
	}
	if c.Transport == "" {
		text, _ := c.variable(envTransport)
		switch {
		case slices.Contains(transports, text):
			c.Transport = text
		case text != transportLoopback && err == nil:
			err = fmt.Errorf("%s=%.80q: expected %s", envTransport, text, transportWords)
		}
	}
	if c.Interface == "" {
		c.Interface, _ = c.variable(boot.EnvInterface)
		if wrong := address.Check(c.Interface); wrong != nil && err == nil {
			err = fmt.Errorf("%s: %w", boot.EnvInterface, wrong)
		}
	}
	if name, _ := c.variable(envProvider); name != "" && err == nil {
		if wrong := boot.CheckProvider(name); wrong != nil {
			err = fmt.Errorf("%s=%.80q: %w", envProvider, name, wrong)
		}
	}
	return c, err
}

// corrections returns the variables of which ranks would find something else in their
// environment than fields say; with all, those of which they find the same, too.
func (c Config) corrections(all bool) (env []string) {
	found, err := boot.ReadSettings(c.variable)
	all = all || err != nil
	if all || found.TLS != c.TLS {
		env = append(env, boot.EnvTLS+"="+map[bool]string{false: "0", true: "1"}[c.TLS])
	}
	if all || found.Heartbeat != c.silence() {
		env = append(env, boot.EnvHeartbeat+"="+c.silence().String())
	}
	return env
}

// joinLimit is how long ranks may take to join once the first has; 0 is for ever, also where
// the environment of ranks does not say it.
func (c Config) joinLimit() time.Duration {
	s, err := boot.ReadSettings(c.variable)
	if _, set := c.variable(boot.EnvJoinTimeout); !set || err != nil {
		return 0
	}
	return s.JoinTimeout
}
