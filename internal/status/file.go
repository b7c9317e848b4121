package status

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// EnvFD names the descriptor of the file that a rank has inherited.
const EnvFD = "GASPI_STATUS_FD"

// A Writer writes the row of one rank. It is for one goroutine at a time.
type Writer struct {
	file *os.File
	at   int64
	buf  []byte
}

// NewWriter returns the writer of the row with a number in the file, which it takes. The file must
// have room for ranks rows.
func NewWriter(file *os.File, row, ranks int) (*Writer, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if row < 0 || row >= ranks || info.Size() != int64(ranks)*RowSize {
		return nil, fmt.Errorf("row %d of %d in a file of %d bytes; %d are expected", row, ranks, info.Size(), int64(ranks)*RowSize)
	}
	return &Writer{file: file, at: int64(row) * RowSize}, nil
}

// Write writes the row. It does not block.
func (w *Writer) Write(r RankRow) error {
	w.buf = r.Append(w.buf[:0])
	_, err := w.file.WriteAt(w.buf, w.at)
	return err
}

// Close closes the file. The row stays in it.
func (w *Writer) Close() error { return w.file.Close() }

// readings is how often Read looks for a row that is not being written; a row takes microseconds.
const readings = 10

// Read returns the row with a number in the file. It returns ErrNone if nothing was written there,
// and ErrTorn if its rank has ended, or is stopped, in the middle of writing it.
func Read(file io.ReaderAt, row int) (RankRow, error) {
	b := make([]byte, RowSize)
	for n := 1; ; n++ {
		if _, err := file.ReadAt(b, int64(row)*RowSize); err != nil && err != io.EOF {
			return RankRow{}, err
		}
		r, err := Parse(b)
		if n == readings || !errors.Is(err, ErrTorn) {
			return r, err
		}
	}
}
