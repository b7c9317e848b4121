package boot

import (
	"errors"
	"strings"
)

const longestProvider = 80 // bytes; libfabric's longest names have about 30

// CheckProvider refuses a name that no provider of libfabric can have. Whether there is one of
// a name is known to libfabric alone. A ";" separates a provider from one on top of it. Addresses
// of transport rdma rely on it that a name has no slash.
func CheckProvider(name string) error {
	ok := len(name) <= longestProvider
	for part := range strings.SplitSeq(name, ";") {
		ok = ok && part != "" && isLetter(rune(part[0])) && !strings.ContainsFunc(part, isForeign)
	}
	if !ok {
		return errors.New("expected the name of a provider of libfabric, such as verbs;ofi_rxm; gaspi-run info lists them")
	}
	return nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// isForeign reports whether no provider of libfabric has a character in its name.
func isForeign(r rune) bool {
	return !isLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
}
