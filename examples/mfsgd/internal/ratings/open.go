package ratings

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// readSize is how much is read from a file at once, in bytes; it is also the
// longest line that is accepted, which no ratings file comes near.
const readSize = 256 << 10

// open returns the text of a ratings file. Compression is known by the first
// bytes and not by the name, so a renamed file works; a name that promises
// compression must keep its promise.
func open(path string) (text io.Reader, close func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	close = func() { f.Close() }
	if info, err := f.Stat(); err == nil && info.IsDir() {
		close()
		return nil, nil, fmt.Errorf("%s is a directory; expected the ratings.csv in it", path)
	}
	raw := bufio.NewReaderSize(f, readSize)
	text, release, err := decompress(raw, path)
	if err != nil {
		close()
		return nil, nil, err
	}
	return text, func() { release(); f.Close() }, nil
}

// decompress puts the decoder before raw that its first bytes ask for.
func decompress(raw *bufio.Reader, path string) (text io.Reader, release func(), err error) {
	const gzipMagic, zstdMagic = "\x1f\x8b", "\x28\xb5\x2f\xfd"
	magic, err := raw.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case len(magic) == 0:
		return nil, nil, fmt.Errorf("%s is empty; expected the header %q and one rating per line", path, header)
	case strings.HasPrefix(string(magic), gzipMagic):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("%s is no complete gzip file (%w); fetch it again", path, err)
		}
		return z, func() { z.Close() }, nil
	case string(magic) == zstdMagic:
		// One decoder thread: the ranks of a job already fill the cores.
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, fmt.Errorf("%s is no complete zstd file (%w); fetch it again", path, err)
		}
		return z, z.Close, nil
	case ext == ".gz" || ext == ".zst":
		return nil, nil, fmt.Errorf("%s is named %s but holds something else; fetch it again or rename it", path, ext)
	}
	return raw, func() {}, nil
}

// openError says what to do about a file that cannot be opened.
func openError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist; give the path of a MovieLens ratings.csv (https://grouplens.org/datasets/movielens/)", path)
	}
	return fmt.Errorf("%s cannot be read: %w", path, cause(err))
}

// cause drops the operation and path that package os puts before an error,
// because the caller names the file itself.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
