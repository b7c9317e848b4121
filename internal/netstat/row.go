package netstat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/status"
)

// EnvFD names the descriptor of the file that a rank has inherited.
const EnvFD = "GASPI_NETSTAT_FD"

// Measures are what a rank has measured since it joined its job.
type Measures struct {
	Processor ProcessorTime
	Links     []LinkMeasures // with ranks that it has connections with, by their number
}

// A ProcessorTime says what the threads of a rank did.
type ProcessorTime struct {
	CPU         time.Duration // they ran
	Delayed     time.Duration // they could have run, and had no processor
	Voluntary   uint64        // times that one waited, and another thread ran
	Involuntary uint64        // times that one could have run on, and another thread ran
	Unknown     uint64        // 1: the system does not say how long they were delayed
}

// A LinkMeasures says what the system has measured of the connections with a rank. All sizes are those
// of what the connections carried, headers of frames included.
type LinkMeasures struct {
	Peer        uint32 // its rank
	Connections uint32

	Samples                  uint64        // of round trips
	MinRTT, MeanRTT, HighRTT time.Duration // HighRTT is the 99th percentile; 0 without samples

	Acked, Received uint64        // bytes
	Segments        uint64        // sent, with those that were sent again
	Resent          uint64        // segments that were sent again
	Rate            uint64        // bytes per second of the fastest delivery that was seen
	Busy            time.Duration // of the busiest connection: time with data that was not acknowledged
}

const (
	magic      = 0x314e5247 // "GRN1"
	headerSize = 16
)

// RowSize is the size of a row of a job with so many ranks, in bytes.
func RowSize(ranks int) int64 {
	return int64(headerSize + binary.Size(ProcessorTime{}) + max(0, ranks-1)*binary.Size(LinkMeasures{}))
}

// Append appends the row to b in the form of the file and returns the result.
func (m Measures) Append(b []byte) []byte {
	text, err := binary.Append(nil, binary.LittleEndian, m.Processor)
	if err == nil {
		text, err = binary.Append(text, binary.LittleEndian, m.Links)
	}
	if err != nil {
		panic("netstat: " + err.Error()) // all fields have fixed sizes
	}
	return status.Seal(b, magic, text)
}

// Parse reads what Append has made, from the beginning of b.
func Parse(b []byte) (Measures, error) {
	text, err := status.Unseal(b, magic)
	if err != nil {
		return Measures{}, err
	}
	var m Measures
	size, rest := binary.Size(m.Processor), len(text)-binary.Size(m.Processor)
	if rest < 0 || rest%binary.Size(LinkMeasures{}) != 0 {
		return Measures{}, fmt.Errorf("malformed row of %d bytes", len(text))
	}
	if n := rest / binary.Size(LinkMeasures{}); n > 0 {
		m.Links = make([]LinkMeasures, n)
	}
	r := bytes.NewReader(text[:size])
	if err := binary.Read(r, binary.LittleEndian, &m.Processor); err != nil {
		return Measures{}, fmt.Errorf("malformed row: %w", err)
	}
	if err := binary.Read(bytes.NewReader(text[size:]), binary.LittleEndian, m.Links); err != nil {
		return Measures{}, fmt.Errorf("malformed row: %w", err)
	}
	return m, nil
}

// Read returns the row with a number in the file of a job with so many ranks. It returns status.ErrNone if
// nothing was written there, and status.ErrTorn if its rank ended in the middle of writing it.
func Read(file io.ReaderAt, row, ranks int) (Measures, error) {
	b := make([]byte, RowSize(ranks))
	if _, err := file.ReadAt(b, int64(row)*RowSize(ranks)); err != nil && err != io.EOF {
		return Measures{}, err
	}
	return Parse(b)
}

// A RowWriter writes the row of one rank. It is for one goroutine at a time.
type RowWriter struct {
	file *os.File
	at   int64
	buf  []byte
}

// Inherit returns the writer of the row with a number in the file that this process has inherited from the
// launcher of its host, which has made it for so many rows of a job with so many ranks. It returns nil, nil
// where nobody has asked for rows.
func Inherit(row, rows, ranks int) (*RowWriter, error) {
	file, err := status.InheritFile(EnvFD, func(file *os.File) error {
		info, err := file.Stat()
		if want := int64(rows) * RowSize(ranks); err == nil && (row < 0 || row >= rows || info.Size() != want) {
			err = fmt.Errorf("row %d of %d in a file of %d bytes; %d are expected", row, rows, info.Size(), want)
		}
		return err
	})
	if file == nil || err != nil {
		return nil, err
	}
	return &RowWriter{file: file, at: int64(row) * RowSize(ranks)}, nil
}

// Write writes the row. It does not block.
func (w *RowWriter) Write(m Measures) error {
	w.buf = m.Append(w.buf[:0])
	_, err := w.file.WriteAt(w.buf, w.at)
	return err
}

// Close closes the file. The row stays in it.
func (w *RowWriter) Close() error { return w.file.Close() }

// IsNone reports whether an error of Read says that the rank has told nothing.
func IsNone(err error) bool { return errors.Is(err, status.ErrNone) }
