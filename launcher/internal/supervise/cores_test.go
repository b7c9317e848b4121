package supervise

import (
	"slices"
	"testing"
)

func TestCoreOf(t *testing.T) {
	for _, c := range []struct {
		ranks       int
		cores, want []int
	}{
		{1, []int{4, 7}, []int{4}},
		{2, []int{4, 7, 9}, []int{4, 7}},
		{3, []int{4, 7, 9}, []int{4, 7, 9}},
		{3, []int{4, 7}, []int{4, 4, 7}},
		{4, []int{4, 7}, []int{4, 4, 7, 7}},
		{7, []int{4, 7, 9}, []int{4, 4, 4, 7, 7, 9, 9}},
		{3, []int{5}, []int{5, 5, 5}},
	} {
		var got []int
		for i := range c.ranks {
			got = append(got, CoreOf(i, c.ranks, c.cores))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d ranks of cores %v run on %v, want %v", c.ranks, c.cores, got, c.want)
		}
	}
}
