package collective

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlgorithmNames(t *testing.T) {
	var all []string
	for _, name := range []string{"ring", "ringx4", "gloo-ring-chunked/4096x4", "ring/256", "bcube radix 2", "max", "direct/65536x2 staged"} {
		all = append(all, AlgorithmOf(name))
	}
	want := []string{"ring", "ring", "gloo-ring-chunked", "ring", "bcube", "max", "direct"}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
