//go:build portable

package gaspi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestOnlyLinuxIsSaid: transports that need Linux refuse with the reason elsewhere.
func TestOnlyLinuxIsSaid(t *testing.T) {
	for name, change := range map[string]func(*gaspi.Config){
		"tcp":     func(c *gaspi.Config) { c.Transport = "tcp" },
		"emulate": func(c *gaspi.Config) { c.Emulate = "latency=1ms" },
	} {
		cfg := small
		change(&cfg)
		err := gaspi.Local(t.Context(), 2, cfg, func(context.Context, *gaspi.Proc) error { return nil })
		if !errors.Is(err, gaspi.ErrNotSupported) || !strings.Contains(err.Error(), "only Linux") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
