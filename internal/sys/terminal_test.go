package sys

import (
	"os"
	"testing"
)

func TestTerminalQuestionsOnAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stopR, stopW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stopR.Close()
	fd, stop := int(r.Fd()), int(stopR.Fd())
	if InForeground(fd) {
		t.Error("a pipe was taken for a terminal")
	}
	w.Write([]byte("x"))
	if stopped, err := AwaitReadable(fd, stop); stopped || err != nil {
		t.Errorf("stopped %v, %v; want something to read", stopped, err)
	}
	stopW.Close()
	if stopped, err := AwaitReadable(fd, stop); !stopped || err != nil {
		t.Errorf("stopped %v, %v; want the stop", stopped, err)
	}
	w.Close()
}
