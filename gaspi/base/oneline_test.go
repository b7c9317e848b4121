package base

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

func TestOneLine(t *testing.T) {
	late := context.DeadlineExceeded
	for _, c := range []struct {
		errs []error
		want string
	}{
		{[]error{io.EOF, io.ErrUnexpectedEOF}, "EOF; unexpected EOF"},
		{[]error{nil, io.EOF, io.EOF, nil, errors.New("EOF")}, "EOF"},
		{[]error{late, io.EOF, late}, "EOF"},
		{[]error{late, nil, late}, "context deadline exceeded"},
		{[]error{errors.Join(io.EOF, io.ErrNoProgress), io.EOF}, "EOF; multiple Read calls return no data or error; EOF"},
	} {
		err := OneLine(c.errs...)
		if err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %q", c.errs, err, c.want)
		}
		for _, one := range c.errs {
			if one != nil && !errors.Is(err, one) {
				t.Errorf("%v does not match %v", err, one)
			}
		}
	}
	if err := OneLine(nil, nil); err != nil {
		t.Errorf("%v for no error", err)
	}
}
