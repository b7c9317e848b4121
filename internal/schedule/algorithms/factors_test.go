package algorithms

import (
	"slices"
	"testing"
)

func TestFactorize(t *testing.T) {
	for _, test := range []struct {
		n, limit int
		want     []int // nil: there are none
	}{
		{16, 16, []int{16}},
		{32, 16, []int{8, 4}}, // not 16 and 2
		{60, 16, []int{10, 6}},
		{12, 4, []int{4, 3}},
		{12, 2, nil},
		{17, 16, nil},
		{34, 16, nil},
		{1024, 16, []int{16, 8, 8}},
	} {
		got, ok := factorize(test.n, test.limit)
		if ok != (test.want != nil) || ok && !slices.Equal(got, test.want) {
			t.Errorf("%d up to %d: %v, %v; want %v", test.n, test.limit, got, ok, test.want)
		}
	}
	if got, ok := factorize(1, 2); len(got) != 0 || !ok {
		t.Errorf("1 is %v, %v", got, ok)
	}
}

func TestFactorizeAll(t *testing.T) {
	for _, test := range []struct {
		n, limit int
		want     []int
	}{
		{1, 2, nil},
		{8, 2, []int{2, 2, 2}},
		{12, 2, []int{3, 2, 2}},
		{61, 4, []int{61}},
		{2 * 2 * 3 * 7 * 7, 4, []int{7, 7, 4, 3}},
	} {
		if got := factorizeAll(test.n, test.limit); !slices.Equal(got, test.want) {
			t.Errorf("%d up to %d: %v, want %v", test.n, test.limit, got, test.want)
		}
	}
}

func TestDisseminationFactors(t *testing.T) {
	for _, test := range []struct {
		ranks, radix int
		want         []int
	}{
		{1, 0, nil},
		{13, 0, []int{13}},
		{16, 0, []int{16}},
		{17, 0, []int{16}}, // one rank beyond the core
		{61, 0, []int{10, 6}},
		{64, 0, []int{8, 8}},
		{13, 2, []int{2, 2, 2}},
		{13, 3, []int{3, 2, 2}},
	} {
		if got := disseminationFactors(test.ranks, test.radix); !slices.Equal(got, test.want) {
			t.Errorf("%d ranks, radix %d: %v, want %v", test.ranks, test.radix, got, test.want)
		}
	}
}
