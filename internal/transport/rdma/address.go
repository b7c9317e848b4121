package rdma

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const longestProvider = 80 // bytes; libfabric's longest names have about 30

// CheckProvider refuses a name that no provider of libfabric can have. Whether there is one of
// a name is known to libfabric alone. A ";" separates a provider from one on top of it. An address
// relies on it that a name has no slash.
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

// An address is how a rank is reached: provider, secret and name on the fabric,
// separated by slashes.
type address struct {
	provider string
	secret   uint64
	name     []byte
}

// String is the form that parseAddress reads.
func (a address) String() string {
	return fmt.Sprintf("%s/%016x/%s", a.provider, a.secret, hex.EncodeToString(a.name))
}

func parseAddress(text string) (address, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return address{}, fmt.Errorf("%q is no address of this transport: want provider/secret/name", text)
	}
	secret, err := strconv.ParseUint(parts[1], 16, 64)
	if err != nil {
		return address{}, fmt.Errorf("%q is no address of this transport: its secret is no number", text)
	}
	name, err := hex.DecodeString(parts[2])
	if err != nil || len(name) == 0 {
		return address{}, fmt.Errorf("%q is no address of this transport: its name is no bytes", text)
	}
	return address{provider: parts[0], secret: secret, name: name}, nil
}
