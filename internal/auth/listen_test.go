package auth

import (
	"net"
	"testing"
)

// TestListenAll opens all places, or none.
func TestListenAll(t *testing.T) {
	opened, err := ListenAll([]string{"127.0.0.1:0", "127.0.0.1:0"})
	if err != nil || len(opened) != 2 {
		t.Fatalf("%d listeners, %v; want 2", len(opened), err)
	}
	taken, free := opened[0].Addr().String(), opened[1].Addr().String()
	opened[1].Close()
	defer opened[0].Close()
	if opened, err := ListenAll([]string{free, taken}); err == nil || opened != nil {
		t.Errorf("%v, %v; want that %s is in use", opened, err, taken)
	}
	again, err := net.Listen("tcp", free)
	if err != nil {
		t.Fatalf("%v; want that the first was closed again", err)
	}
	again.Close()
}
