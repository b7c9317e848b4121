package kills

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{"waits": wait})
}

// wait says who this process is, and waits to be killed, unless it is rank 0.
func wait(ctx context.Context, _ []string) error {
	if os.Getenv("GASPI_RANK") == "0" {
		fmt.Println("over")
	}
	fmt.Println("process", os.Getpid())
	if os.Getenv("GASPI_RANK") != "0" {
		<-ctx.Done()
	}
	return ctx.Err()
}

func TestRun(t *testing.T) {
	j := &Trial{
		Ranks: 3, Role: "waits", Over: regexp.MustCompile(`^over$`),
		Kills: []Kill{{Rank: 2}, {Rank: 0}, {Rank: 1, After: time.Millisecond}},
	}
	text, err := j.Run(t)
	if err != nil || !slices.Equal(j.Killed(), []int{2, 1}) || !regexp.MustCompile(`(?m)^\[0\] over$`).MatchString(text) {
		t.Errorf("killed %v, %v:\n%s", j.Killed(), err, text)
	}
}

func TestCampaign(t *testing.T) {
	for _, c := range []struct{ counts, seed, want string }{
		{"", "", "{[4 2] 7}"},
		{"500,200", "9", "{[500 200] 9}"},
		{"500", "", "GASPI_TEST_KILLS=500 has 1 numbers; want 2, with commas between"},
		{"1,x", "", `GASPI_TEST_KILLS=1,x: strconv.Atoi: parsing "x": invalid syntax`},
		{"", "-", `GASPI_TEST_SEED=-: strconv.ParseUint: parsing "-": invalid syntax`},
	} {
		got := Campaign{Counts: []int{4, 2}, Seed: 7}
		text := ""
		if err := got.set(c.counts, c.seed); err != nil {
			text = err.Error()
		} else {
			text = fmt.Sprint(got)
		}
		if text != c.want {
			t.Errorf("%q, %q: %s; want %s", c.counts, c.seed, text, c.want)
		}
	}
}
