package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"ranks", "hosts", "hostfile", "on-stall", "on-failure", "stall-timeout", "figure-1", "figure-2", "figure-12", "n"}
	for misspelt, want := range map[string]string{
		"rank":         "ranks",
		"rnaks":        "ranks",
		"host":         "", // two begin so
		"hostfil":      "hostfile",
		"on-stal":      "on-stall",
		"stal-timout":  "stall-timeout",
		"stall":        "stall-timeout",
		"figur-1":      "figure-1",
		"figure1":      "figure-1",
		"figure-3":     "", // another number is another figure
		"figure-123":   "",
		"host-stall":   "",
		"on-stail":     "on-stall",
		"fast":         "",
		"x":            "",
		"on-failurexx": "on-failure",
	} {
		if got := Nearest(misspelt, names); got != want {
			t.Errorf("%s: %q, want %q", misspelt, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"bery":  `unknown fruit "bery": is it berry?`,
		"stone": `unknown fruit "stone"; choose one of apple, berry`,
	} {
		if got := Unknown("unknown fruit", name, []string{"apple", "berry"}); got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
