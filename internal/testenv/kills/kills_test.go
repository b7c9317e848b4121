package kills

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

// roleEnv makes this test program a rank, which says who it is and waits, unless it is rank 0.
const roleEnv = "KILLS_TEST_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("GASPI_RANK") == "0" {
		fmt.Println("over")
	}
	fmt.Println("process", os.Getpid())
	if os.Getenv("GASPI_RANK") != "0" {
		time.Sleep(time.Hour) // sleep: the process ends when it is killed
	}
}

func TestRun(t *testing.T) {
	j := &Trial{
		Ranks: 3, Env: []string{roleEnv + "=1"}, Over: regexp.MustCompile(`^over$`), Timeout: time.Minute,
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
