// Package near lets a process tell others of its host and user a text, through a socket whose
// name all of them can compute. The name is in a space that is no file system, and anybody on
// the host can use it, so both sides ask the system for the user of the other.
//
// It does not know what the text says. Package boot uses it for ranks whose starter gives them
// no other way to meet, and package launcher for users who ask what a job does.
package near

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	maxText    = 16 << 20               // bytes: a row of 250 of each of 65,536 ranks
	patience   = 5 * time.Second        // for a process to take the text
	firstPause = 20 * time.Millisecond  // between two questions; grows
	lastPause  = 500 * time.Millisecond // and ends here
)

// Name returns the name of the socket of a start of a starter by this user.
func Name(starter, start string) string {
	sum := sha256.Sum256([]byte(starter + "\n" + start))
	return fmt.Sprintf("@gaspi-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:16]))
}

// Serve tells what text returns to processes of the own user that connect, one after the other. It
// blocks until l is closed.
func Serve(l net.Listener, text func() string) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(firstPause) // sleep: no descriptor is free, which nothing announces the end of
			continue
		}
		if sameUser(conn) == nil {
			told := text()
			conn.SetDeadline(time.Now().Add(patience))
			io.WriteString(conn, told)
		}
		conn.Close()
	}
}

// ErrStranger says that somebody else has taken a name.
var ErrStranger = errors.New("another user")

// Await returns the text that is told at the socket called name. It blocks until somebody
// tells it, another user is there, or ctx ends. The error is then why the last question had no
// answer.
func Await(ctx context.Context, name string) (string, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		text, err := Ask(ctx, name)
		if err == nil || errors.Is(err, ErrStranger) {
			return text, err
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(pause): // nobody may be there yet
		}
	}
}

// Ask is Await for somebody who is there already: it asks once.
func Ask(ctx context.Context, name string) (string, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", name)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := sameUser(conn); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	text, err := io.ReadAll(io.LimitReader(conn, maxText))
	if err == nil && len(text) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return string(text), err
}
