package status

import "testing"

func TestSpell(t *testing.T) {
	for function, want := range map[string]string{
		"example.org/m/gaspi.(*Proc).Barrier":                    "Proc.Barrier",
		"example.org/m/gaspi.View[...]":                          "gaspi.View",
		"example.org/m/collectives.AllReduce[...].func1":         "collectives.AllReduce",
		"example.org/m/collectives.AllReduce[go.shape.float64]":  "collectives.AllReduce",
		"example.org/m/ssp.(*Reduction[...]).AllReduce":          "Reduction.AllReduce",
		"example.org/m/ssp.(*Reduction[a/b.T[a/b.U]]).AllReduce": "Reduction.AllReduce",
		"example.org/m/ssp.New[...]":                             "ssp.New",
	} {
		if got := spell(split(function)); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
