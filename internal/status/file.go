package status

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// EnvFD names the descriptor of the file that a rank has inherited.
const EnvFD = "GASPI_STATUS_FD"

// FileSize is the size of the file for some ranks of a host, of a job of all:
//
//	| rows: ranks x RowSize | tables: ranks x TableSize(all) |
func FileSize(ranks, all int) int64 { return int64(ranks) * int64(RowSize+TableSize(all)) }

// A Writer writes the row and the table of one rank. It is for one goroutine at a time.
type Writer struct {
	file  *os.File
	at    int64
	table int64 // where the table is
	buf   []byte
	last  []byte // the table as it was written last
}

// NewWriter returns the writer of the row with a number in the file, which it takes. The file must
// have the size for ranks of a job of all.
func NewWriter(file *os.File, row, ranks, all int) (*Writer, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if row < 0 || row >= ranks || info.Size() != FileSize(ranks, all) {
		return nil, fmt.Errorf("row %d of %d in a file of %d bytes; %d are expected", row, ranks, info.Size(), FileSize(ranks, all))
	}
	return &Writer{file: file, at: int64(row) * RowSize, table: int64(ranks)*RowSize + int64(row)*int64(TableSize(all))}, nil
}

// Write writes the row. It does not block.
func (w *Writer) Write(r RankRow) error {
	w.buf = r.Append(w.buf[:0])
	_, err := w.file.WriteAt(w.buf, w.at)
	return err
}

// WriteTable writes the table, unless it is what was written last. It does not block.
func (w *Writer) WriteTable(t PeerTable) error {
	w.buf = t.Append(w.buf[:0])
	if bytes.Equal(w.buf, w.last) {
		return nil
	}
	_, err := w.file.WriteAt(w.buf, w.table)
	w.last = append(w.last[:0], w.buf...)
	return err
}

// Close closes the file. The row stays in it.
func (w *Writer) Close() error { return w.file.Close() }

// readings is how often Read looks for a row that is not being written; a row takes microseconds.
const readings = 10

// Read returns the row with a number in the file. It returns ErrNone if nothing was written there,
// and ErrTorn if its rank has ended, or is stopped, in the middle of writing it.
func Read(file io.ReaderAt, row int) (r RankRow, err error) {
	b := make([]byte, RowSize)
	err = readAgain(func() error {
		if _, err := file.ReadAt(b, int64(row)*RowSize); err != nil && err != io.EOF {
			return err
		}
		r, err = Parse(b)
		return err
	})
	return r, err
}

// readAgain reads something until it is not being written.
func readAgain(read func() error) (err error) {
	for range readings {
		if err = read(); !errors.Is(err, ErrTorn) {
			return err
		}
	}
	return err
}

// ReadTable returns the table of the rank with a number in the file for some ranks of a host, as ParseTable
// takes it, with the errors of Read.
func ReadTable(file io.ReaderAt, row, ranks, all int) (b []byte, err error) {
	at := int64(ranks)*RowSize + int64(row)*int64(TableSize(all))
	header := make([]byte, headerSize)
	err = readAgain(func() error {
		if _, err := file.ReadAt(header, at); err != nil && err != io.EOF {
			return err
		}
		size := headerSize + int(binary.LittleEndian.Uint32(header[4:]))
		b = make([]byte, min(size, TableSize(all)))
		if _, err := file.ReadAt(b, at); err != nil && err != io.EOF {
			return err
		}
		_, err := Unseal(b, tableMagic)
		return err
	})
	return b, err
}
