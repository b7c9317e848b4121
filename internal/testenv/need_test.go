package testenv

import "testing"

// The ports of a test are nobody else's until it ends, though nobody listens at them.
func TestFreePorts(t *testing.T) {
	const n = 3
	first := 0
	t.Run("a test", func(t *testing.T) {
		first = FreePorts(t, n)
		for _, begin := range []int{first - n + 1, first, first + n - 1} {
			claims, err := claimAll(begin, n)
			closeAll(claims)
			if err == nil {
				t.Errorf("ports from %d are claimed twice, of %d from %d", begin, n, first)
			}
		}
	})
	claims, err := claimAll(first, n)
	closeAll(claims)
	if err != nil {
		t.Errorf("when the test has ended: %v", err)
	}
}
