package address

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePorts(t *testing.T) {
	for text, want := range map[string]Ports{
		"": {}, "7000": {7000, 7000}, "7000-7000": {7000, 7000}, "1-65535": {1, 65535},
	} {
		if got, err := ParsePorts(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "0-9", "7001-7000", "70000", "1-65536", "-", "a-b", "1-2-3", " 1", "-1", "5-"} {
		if got, err := ParsePorts(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestOpen(t *testing.T) {
	other := errors.New("something else")
	for _, c := range []struct {
		name  string
		ports Ports
		free  uint16 // every other one is in use
		end   error  // of the free one
		want  []uint16
		fails bool
	}{
		{"any", Ports{}, 0, nil, []uint16{0}, false},
		{"the last", Ports{65533, 65535}, 65535, nil, []uint16{65533, 65534, 65535}, false},
		{"none", Ports{5, 7}, 9, nil, []uint16{5, 6, 7}, true},
		{"another error", Ports{5, 7}, 6, other, []uint16{5, 6}, true},
	} {
		var tried []uint16
		err := c.ports.Open(func(port uint16) error {
			tried = append(tried, port)
			if port != c.free {
				return &wrapped{syscall.EADDRINUSE}
			}
			return c.end
		})
		if d := cmp.Diff(c.want, tried); d != "" || (err != nil) != c.fails || c.end != nil && !errors.Is(err, c.end) {
			t.Errorf("%s: %v, tried (-want +got):\n%s", c.name, err, d)
		}
	}
}

type wrapped struct{ error }

func (w *wrapped) Unwrap() error { return w.error }
