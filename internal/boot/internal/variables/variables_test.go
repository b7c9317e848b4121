package variables

import "testing"

func TestHostName(t *testing.T) {
	for text, want := range map[string]string{"h": "h", "node-1.a_b.example": "node-1.a_b.example", "127.0.0.1": "127.0.0.1", "[::1]": "::1", "::1": "::1", "[fe80::1%eth0]": "fe80::1%eth0", "bücher": "bücher"} {
		if got, ok := HostName(text); got != want || !ok {
			t.Errorf("%q: %q, %t; want %q", text, got, ok, want)
		}
	}
}
