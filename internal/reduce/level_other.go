//go:build !amd64

package reduce

// best is the pure-Go loops: this architecture has no vector kernels.
const best = levelScalar

func supported() level { return levelScalar }

func vector(level, pair, []byte, []byte, []byte) bool { return false }

func find(level, pair) vectorFunc { return nil }

func findFold(level, pair) foldFunc { return nil }

func findTwice(level, pair) twiceFunc { return nil }
