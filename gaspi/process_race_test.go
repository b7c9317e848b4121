//go:build race

package gaspi_test

import "github.com/gaspi-go/gaspi-go/internal/testenv"

// processRoles has none: their tests run without the race detector.
func processRoles() map[string]testenv.Role { return nil }
