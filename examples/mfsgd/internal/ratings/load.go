package ratings

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Part says which ratings a rank wants.
type Part struct {
	Rank, Ranks int
	Seed        uint64 // of the split into training and held-out ratings
}

// Load reads a file of ratings in any form in which MovieLens hands them out, and
// returns the rank's part of it: ratings.csv, ratings.dat or u.data, plain, compressed
// with gzip or zstd, or in the zip archive that is downloaded.
//
// It reads the file once. Items are numbered in the order in which they first
// appear and users are handed out by Owners as they first appear, which every
// rank finds out for itself. Memory: 12 bytes for each rating of the rank's own
// users while reading and 5 afterwards, and some 40 bytes for each user and item
// of the file. A (user, item) pair that appears twice counts twice.
//
// Errors name the file, and the line and its text where there is one
// (*LineError); fewer users than ranks is a *FewUsersError.
func Load(path string, part Part) (*Shard, error) {
	in, err := open(path)
	if err != nil {
		return nil, err
	}
	defer in.close()
	l := loader{
		part:   part,
		owners: NewOwners(part.Ranks),
		users:  make(map[uint64]user),
		items:  make(map[uint64]uint32),
	}
	if err := eachRecord(in.text, in.name, l.add); err != nil {
		return nil, err
	}
	if len(l.users) < part.Ranks {
		return nil, &FewUsersError{Source: path, Users: len(l.users), Ranks: part.Ranks}
	}
	s := l.mine.Build()
	s.Items, s.TotalUsers, s.TotalRatings = len(l.items), len(l.users), l.ratings
	return s, nil
}

// A loader is the state of one reading.
type loader struct {
	part    Part
	owners  *Owners
	users   map[uint64]user
	items   map[uint64]uint32
	mine    Builder
	ratings int64

	lastName uint64 // the user of the line before, because files are sorted by user
	last     user
}

// A user is who owns a user and, on the owner, its local number.
type user struct{ owner, local int }

// add takes in one line.
func (l *loader) add(rec record) {
	if l.ratings == 0 || rec.user != l.lastName {
		l.lastName, l.last = rec.user, l.user(rec.user)
	}
	item, known := l.items[rec.item]
	if !known {
		item = uint32(len(l.items))
		l.items[rec.item] = item
	}
	l.ratings++
	l.owners.Count(l.last.owner, 1)
	if l.last.owner == l.part.Rank {
		l.mine.Add(l.last.local, item, rec.half, HeldOut(rec.user, rec.item, l.part.Seed))
	}
}

// user looks a user up, or gives a new one an owner.
func (l *loader) user(name uint64) user {
	u, known := l.users[name]
	if known {
		return u
	}
	u.owner = l.owners.Next()
	if u.owner == l.part.Rank {
		u.local = l.mine.AddUser(name)
	}
	l.users[name] = u
	return u
}

// eachRecord tells the form by the first line and calls add for every rating. Lines
// end in LF or CR LF; the last may lack its end.
func eachRecord(text io.Reader, path string, add func(record)) error {
	in := bufio.NewReaderSize(text, readSize)
	var f form
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if err != nil && (err != io.EOF || len(line) == 0) {
			return f.endOfText(err, path, number, line)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		if number == 1 {
			var known bool
			if f, known = formOf(line); !known {
				return &LineError{File: path, Line: 1, Text: string(line), Problem: "expected " + wanted}
			}
			if f.headed {
				continue
			}
		}
		rec, problem := f.parse(line)
		if problem != "" {
			return &LineError{File: path, Line: number, Text: string(line), Problem: problem}
		}
		add(rec)
	}
}

// endOfText tells the proper end of a file from a broken one. Number is the line
// that could not be read and line what there is of it.
func (f form) endOfText(err error, path string, number int, line []byte) error {
	switch {
	case err == io.EOF && number == 1:
		return emptyError(path)
	case err == io.EOF && number == 2 && f.headed:
		return fmt.Errorf("%s holds a header and no ratings", path)
	case err == io.EOF:
		return nil
	case errors.Is(err, bufio.ErrBufferFull):
		return &LineError{File: path, Line: number, Text: string(line[:min(len(line), 200)]),
			Problem: fmt.Sprintf("line longer than %d bytes; this is no ratings file", readSize)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &LineError{File: path, Line: number, Text: string(line),
			Problem: "the compressed data ends early; the file is cut off, fetch it again"}
	case errors.Is(err, zip.ErrChecksum):
		return &LineError{File: path, Line: number, Text: string(line), Problem: "the archive is damaged; fetch it again"}
	}
	return &LineError{File: path, Line: number, Text: string(line), Problem: fmt.Sprintf("the file cannot be read on: %v", cause(err))}
}
