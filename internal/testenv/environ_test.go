package testenv

import (
	"os"
	"testing"
)

func TestRemoveStarter(t *testing.T) {
	for name, removed := range map[string]bool{
		"GASPI_RANK": true, "GASPI_HEARTBEAT": true, "PMI_FD": true, "SLURM_PROCID": true, "RANK": true, "MASTER_PORT": true,
		"GASPI_TEST_LONG": false, "GASPI_CI": false, "GASPI_RDMA_PROVIDER": false, "RANKED": false, "HOME": false, "A_PMI_RANK": false,
	} {
		if _, set := os.LookupEnv(name); !set {
			t.Setenv(name, "1")
		}
		if err := removeStarter(); err != nil {
			t.Fatal(err)
		}
		if _, set := os.LookupEnv(name); set == removed {
			t.Errorf("%s is set: %t", name, set)
		}
	}
}
