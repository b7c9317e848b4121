package ratings

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/namedfile"
	"github.com/klauspost/compress/zstd"
)

// readSize is how much is read from a file at once, in bytes; it is also the
// longest line that is accepted, which no ratings file comes near.
const readSize = 256 << 10

// An input is the text of a ratings file.
type input struct {
	name  string // for messages: the path, and the member of an archive behind it
	text  io.Reader
	close func()
}

// open returns the text of a ratings file. Compression is known by the first
// bytes and not by the name, so a renamed file works; a name that promises
// compression must keep its promise.
func open(path string) (*input, error) {
	f, err := namedfile.File{Named: "--ratings", Path: path, Expected: "the ratings of a MovieLens data set (https://grouplens.org/datasets/movielens/)"}.Open()
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var in *input
	if err == nil {
		in, err = decompress(f, info.Size(), path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	release := in.close
	in.close = func() { release(); f.Close() }
	return in, nil
}

// decompress returns the text of a file of a size, by the decoder that its first
// bytes ask for.
func decompress(f *os.File, size int64, path string) (*input, error) {
	const gzipMagic, zstdMagic, zipMagic, noZip = "\x1f\x8b", "\x28\xb5\x2f\xfd", "PK\x03\x04", "PK\x05\x06"
	raw := bufio.NewReaderSize(f, readSize)
	magic, err := raw.Peek(4)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case len(magic) == 0:
		return nil, emptyError(path)
	case strings.HasPrefix(string(magic), gzipMagic):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("%s is no complete gzip file (%w); fetch it again", path, err)
		}
		return &input{path, z, func() { z.Close() }}, nil
	case string(magic) == zstdMagic:
		// One decoder thread: the ranks of a job already fill the cores.
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("%s is no complete zstd file (%w); fetch it again", path, err)
		}
		return &input{path, z, z.Close}, nil
	case string(magic) == zipMagic || string(magic) == noZip: // noZip: an archive of nothing
		return openMember(f, size, path)
	case ext == ".gz" || ext == ".zst" || ext == ".zip":
		return nil, fmt.Errorf("%s is named %s but holds something else; fetch it again or rename it", path, ext)
	}
	return &input{path, raw, func() {}}, nil
}

// openMember returns the ratings file of a zip archive of a size: the member with one
// of MovieLens's names.
func openMember(archive io.ReaderAt, size int64, path string) (*input, error) {
	const names = "ratings.csv, ratings.dat or u.data"
	z, err := zip.NewReader(archive, size)
	if err != nil {
		return nil, fmt.Errorf("%s is no complete zip archive (%w); fetch it again", path, err)
	}
	var found []*zip.File
	for _, member := range z.File {
		switch strings.ToLower(member.Name[strings.LastIndexAny(member.Name, `/\`)+1:]) {
		case "ratings.csv", "ratings.dat", "u.data":
			found = append(found, member)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%s holds no %s; fetch a data set of ratings (https://grouplens.org/datasets/movielens/)", path, names)
	case len(found) > 1:
		return nil, fmt.Errorf("%s holds both %s and %s; take one of them out of it and give its path", path, found[0].Name, found[1].Name)
	}
	name := path + "/" + found[0].Name
	text, err := found[0].Open()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be unpacked (%w); unpack it and give its path", name, err)
	}
	return &input{name, text, func() { text.Close() }}, nil
}

// emptyError is of a file without text.
func emptyError(path string) error {
	return fmt.Errorf("%s is empty; expected %s", path, wanted)
}

// cause drops the operation and path that package os puts before an error,
// because the caller names the file itself.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
