//go:build portable

package launcher

import (
	"errors"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// TestRunNeedsLinux: other systems get the reason, and the way that works there.
func TestRunNeedsLinux(t *testing.T) {
	_, err := Run(t.Context(), Config{Program: "/bin/true", Ranks: 1})
	if !errors.Is(err, base.ErrNotSupported) || !strings.Contains(err.Error(), "only Linux") || !strings.Contains(err.Error(), "gaspi.Local") {
		t.Error(err)
	}
}
