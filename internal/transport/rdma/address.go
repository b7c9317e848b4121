package rdma

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// An address is how a rank is reached: provider, secret and name on the fabric,
// separated by slashes, which boot.CheckProvider refuses in the first.
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
