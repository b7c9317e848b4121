package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Without TLS, what controls a job travels in records:
//
//	| 0 length of what was sealed, 2 | 2 sealed bytes and tag, length + 16 |
//
// They are sealed with AES-256-GCM; the length is authenticated too. The nonce of a
// record is its number in its direction: four zeros and 8 bytes in little endian.
// Nothing can be left out, repeated, or put elsewhere unnoticed; only an end of the
// connection between two records looks like one that the peer has made, which is why
// what travels in records says goodbye itself. Each direction has a key of its own:
// HKDF-SHA256 of the secret that follows from both X25519 shares and the job's key,
// with SHA-256 of opening and challenge as salt. So a recording stays sealed even for
// who gets hold of the job's key later.
const (
	maxRecord   = 16 << 10 // bytes sealed in one record
	recordHead  = 2
	tagSize     = 16
	recordMost  = recordHead + maxRecord + tagSize
	recordEmpty = recordHead + tagSize
)

// errRecord says that what was received was not sent so by the peer.
var errRecord = errors.New("a record was changed on its way, or is not the peer's")

// Sealed is a connection whose two directions are encrypted and authenticated with keys
// that only its two sides have. Reading may be resumed after a time limit; after an
// error of writing nothing more can be written.
type Sealed struct {
	net.Conn // closing and time limits are those of the connection below

	reading sync.Mutex
	in      direction
	got     []byte // of the record that comes; its capacity is recordMost
	plain   []byte // what of the last one was not read yet

	writing sync.Mutex
	out     direction
	record  []byte
	broken  error // why nothing can be written any more
}

// A direction seals or opens the records of one way.
type direction struct {
	aead   cipher.AEAD
	number uint64 // of the next record
}

func (d *direction) nonce() []byte {
	n := binary.LittleEndian.AppendUint64(make([]byte, 4, 12), d.number)
	d.number++
	return n
}

// seal makes the connection that follows a handshake.
func seal(conn net.Conn, k Key, t *transcript, share []byte, ours, theirs string) (*Sealed, error) {
	peer, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		return nil, err
	}
	secret, err := t.own.ECDH(peer)
	if err != nil {
		return nil, fmt.Errorf("its share is none: %w", err)
	}
	salt := t.hash()
	return newSealed(conn, append(secret, k[:]...), salt[:], ours, theirs)
}

func newSealed(conn net.Conn, secret, salt []byte, ours, theirs string) (s *Sealed, err error) {
	s = &Sealed{Conn: conn, got: make([]byte, 0, recordMost)}
	if s.out.aead, err = recordKey(secret, salt, ours); err != nil {
		return nil, err
	}
	s.in.aead, err = recordKey(secret, salt, theirs)
	return s, err
}

// recordKey returns the cipher of what one side sends.
func recordKey(secret, salt []byte, side string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, "gaspi-go records "+side, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Write seals p and sends it, in records that are a write of the connection each.
func (s *Sealed) Write(p []byte) (n int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for s.broken == nil && n < len(p) {
		piece := p[n:min(n+maxRecord, len(p))]
		s.record = binary.LittleEndian.AppendUint16(s.record[:0], uint16(len(piece)))
		s.record = s.out.aead.Seal(s.record, s.out.nonce(), piece, s.record[:recordHead])
		if _, err := s.Conn.Write(s.record); err != nil {
			s.broken = err // part of the record may have left
			break
		}
		n += len(piece)
	}
	return n, s.broken
}

// Read returns bytes of one record. The error is io.EOF only between two records.
func (s *Sealed) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for len(s.plain) == 0 {
		if err := s.fill(recordHead); err != nil {
			return 0, err
		}
		size := int(binary.LittleEndian.Uint16(s.got))
		if size == 0 || size > maxRecord {
			return 0, fmt.Errorf("%w: it is %d bytes long; expected 1 to %d", errRecord, size, maxRecord)
		}
		if err := s.fill(recordEmpty + size); err != nil {
			return 0, err
		}
		var err error
		if s.plain, err = s.in.aead.Open(s.got[recordHead:recordHead], s.in.nonce(), s.got[recordHead:], s.got[:recordHead]); err != nil {
			s.got = s.got[:0]
			return 0, errRecord
		}
		s.got = s.got[:0] // plain is in its memory until it has been read
	}
	n := copy(p, s.plain)
	s.plain = s.plain[n:]
	return n, nil
}

// fill reads until size bytes of the record are there.
func (s *Sealed) fill(size int) error {
	for len(s.got) < size {
		n, err := s.Conn.Read(s.got[len(s.got):size])
		s.got = s.got[:len(s.got)+n]
		if len(s.got) == size {
			return nil
		}
		if err == io.EOF && len(s.got) > 0 {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CloseWrite tells the peer that nothing more will come, where the connection can.
func (s *Sealed) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// CloseRead ends reading once what has arrived was read, where the connection can.
func (s *Sealed) CloseRead() error {
	if half, ok := s.Conn.(interface{ CloseRead() error }); ok {
		return half.CloseRead()
	}
	return s.Conn.Close()
}
