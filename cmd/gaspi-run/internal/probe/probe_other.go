//go:build !linux || !(amd64 || arm64)

package probe

import (
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// Open returns an error: there are no programs for this system and processor.
func Open() (launcher.Prober, error) {
	return nil, fmt.Errorf("there are no programs for kernels of %s/%s", runtime.GOOS, runtime.GOARCH)
}
