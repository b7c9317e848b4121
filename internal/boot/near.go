package boot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// Ranks of one host find rank 0 through a socket whose name follows from what their
// starter tells them all, in a space of names that is no file system. Anybody on the host
// can use such a name, so both sides ask the system for the user of the other.

const (
	maxReferral   = 4096            // bytes
	nearPatience  = 5 * time.Second // for a rank to take its referral
	nearSeparator = "\n"
)

// socketName returns the name of the socket of a start of a starter.
func socketName(starter, start string) string {
	sum := sha256.Sum256([]byte(starter + "\n" + start))
	return fmt.Sprintf("@gaspi-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:16]))
}

// serveNear hands the referral to processes of the own user that connect, until l is
// closed.
func serveNear(l net.Listener, r referral) {
	text := strings.Join(r.addresses, ",") + nearSeparator + r.key
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
			conn.SetDeadline(time.Now().Add(nearPatience))
			io.WriteString(conn, text)
		}
		conn.Close()
	}
}

// hearSocket returns the referral of rank 0. It blocks until rank 0 is there, for as long
// as the meeting is waited for.
func (p networkPlan) hearSocket(ctx context.Context, name string) (referral, error) {
	limited, cancel := context.WithTimeout(ctx, p.meeting.patience)
	defer cancel()
	if p.info.reminds() {
		go p.meeting.tell.remind(limited.Done(), func() string { return missingText([]base.Rank{0}, p.info.Size) })
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		r, err := askNear(limited, name)
		if err == nil || errors.Is(err, errStranger) {
			return r, err
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			return r, fmt.Errorf("rank 0 has not come within %v, the limit of %s: %w", p.meeting.patience, EnvJoinTimeout, err)
		case <-time.After(pause): // rank 0 may not be there yet
		}
	}
}

// errStranger says that somebody else has taken a name.
var errStranger = errors.New("another user")

// askNear asks once.
func askNear(ctx context.Context, name string) (referral, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", name)
	if err != nil {
		return referral{}, err
	}
	defer conn.Close()
	if err := sameUser(conn); err != nil {
		return referral{}, fmt.Errorf("the socket at which rank 0 should be: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	text, err := io.ReadAll(io.LimitReader(conn, maxReferral))
	if err != nil {
		return referral{}, err
	}
	where, key, ok := strings.Cut(string(text), nearSeparator)
	if !ok {
		return referral{}, io.ErrUnexpectedEOF
	}
	return referral{strings.Split(where, ","), key}, nil
}
