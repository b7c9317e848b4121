package rendezvous

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }
