package boot

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"strings"
)

// partEnd separates the parts of ranks, which are told to all of them as compressed text:
// those of neighbours are often alike.
const partEnd = "\n"

// packParts returns parts as one value. It returns nil if all are empty, or if they do not
// fit.
func packParts(parts []string) []byte {
	text := strings.Join(parts, partEnd)
	if len(text) == len(parts)-1 {
		return nil
	}
	var packed bytes.Buffer
	to, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = io.WriteString(to, text)
	}
	if err == nil {
		err = to.Close()
	}
	if err != nil || packed.Len() > MaxValue {
		return nil
	}
	return packed.Bytes()
}

// unpackParts returns the parts of size ranks in a value that packParts made, nil if that
// is empty.
func unpackParts(packed []byte, size int) ([]string, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	most := int64(size) * (MaxPart + int64(len(partEnd)))
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), most))
	if err != nil {
		return nil, fmt.Errorf("malformed parts of ranks: %w", err)
	}
	parts := strings.Split(string(text), partEnd)
	if len(parts) != size {
		return nil, fmt.Errorf("malformed parts of ranks: %d of %d", len(parts), size)
	}
	return parts, nil
}
