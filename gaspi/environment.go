package gaspi

import (
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Variables of the environment that ranks read, besides those of package boot.
const (
	envTransport  = "GASPI_TRANSPORT"
	envInterface  = "GASPI_INTERFACE"
	envEmulate    = "GASPI_EMULATE"
	envProvider   = "GASPI_RDMA_PROVIDER"
	envCongestion = "GASPI_TCP_CONGESTION"
)

// overlay fills fields that the program left open from the environment.
func (c Config) overlay() Config {
	for _, f := range []struct {
		field *string
		name  string
	}{
		{&c.Transport, envTransport}, {&c.Interface, envInterface}, {&c.Emulate, envEmulate}, {&c.RDMAProvider, envProvider},
	} {
		if *f.field == "" {
			*f.field = os.Getenv(f.name)
		}
	}
	return c
}

// origin names what has set a field of Config to a value: the variable of the environment, or
// the program.
func origin(field, variable, value string) string {
	if os.Getenv(variable) == value {
		return variable
	}
	return "Config." + field
}

// checkEnvironment returns an error that names the first variable of the environment that makes
// no sense. Those that fields of Config stand for are checked with them.
func checkEnvironment() error {
	if err := boot.CheckVariables(); err != nil {
		return err
	}
	if name := os.Getenv(envCongestion); name != "" {
		if err := sys.CheckCongestion(name); err != nil {
			return fmt.Errorf("%s=%.80q: %w; expected one that sysctl net.ipv4.tcp_allowed_congestion_control lists, such as cubic", envCongestion, name, err)
		}
	}
	return nil
}
