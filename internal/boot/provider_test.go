package boot

import "testing"

func TestCheckProvider(t *testing.T) {
	for _, name := range []string{"tcp", "tcp;ofi_rxm", "verbs;ofi_rxm", "UDP;ofi_rxd", "psm3", "net", "nonsense"} {
		if err := CheckProvider(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
