package loop

import (
	"os"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }
