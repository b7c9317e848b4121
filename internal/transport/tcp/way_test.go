package tcp

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A peer to which there is no way for a moment is no lost peer: the neighbours of a host
// that was just plugged in may still have noted that it does not answer.
func TestNoWayForAMoment(t *testing.T) {
	for _, why := range []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ETIMEDOUT, syscall.EMFILE} {
		t.Run(why.Error(), func(t *testing.T) {
			var lost losses
			var refuse atomic.Int32 // attempts that find no way; none while ranks begin to listen
			ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
				cfg.Silence, cfg.Lost = generous, lost.note
				cfg.within = func(do func() error) error {
					if refuse.Add(-1) >= 0 {
						return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", why)}
					}
					return do()
				}
			})
			refuse.Store(3)
			ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
			if left := refuse.Load(); left >= 0 || lost.count() != 0 {
				t.Errorf("%d attempts were to fail still; lost %v", left, lost.all)
			}
		})
	}
}

// One to which there is no way for as long as it may be silent is lost.
func TestNoWayAtAll(t *testing.T) {
	var lost losses
	var tries, shut atomic.Int32
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
		cfg.Silence, cfg.Lost = 250*time.Millisecond, lost.note
		cfg.within = func(do func() error) error {
			if shut.Load() > 0 {
				tries.Add(1)
				return os.NewSyscallError("connect", syscall.EHOSTUNREACH)
			}
			return do()
		}
	})
	shut.Store(1)
	err := linkTo(t, ranks[0], 1).Ping(testenv.Context(t))
	isGone(t, "ping", err, 1)
	if !strings.Contains(err.Error(), "no route to host") || tries.Load() < leastTries || lost.count() != 1 {
		t.Errorf("%v after %d attempts; lost %v", err, tries.Load(), lost.all)
	}
}

// Goal: a rank that has no descriptor or memory left for a connection gets that error, and does not take its peer for
// dead. It connects when it has some again.
// Method: all attempts fail with the system's error for as long as a peer may be silent, and then none does.
func TestNothingLeftForAConnection(t *testing.T) {
	for _, why := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS} {
		t.Run(why.Error(), func(t *testing.T) {
			var lost losses
			var shut atomic.Bool
			ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
				cfg.Silence, cfg.Lost = 250*time.Millisecond, lost.note
				cfg.within = func(do func() error) error {
					if shut.Load() {
						return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", why)}
					}
					return do()
				}
			})
			shut.Store(true)
			for range 2 {
				err := linkTo(t, ranks[0], 1).Ping(testenv.Context(t))
				if !errors.Is(err, why) || errors.Is(err, base.ErrRankDead) || !strings.Contains(err.Error(), "to rank 1") {
					t.Errorf("%v, want the error of the system and the rank", err)
				}
			}
			shut.Store(false)
			ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
			if lost.count() != 0 {
				t.Errorf("lost %v", lost.all)
			}
		})
	}
}

// Goal: a rank that is out of descriptors or memory when a connection has been agreed on takes it into use later, and neither
// side takes the other for gone.
// Method: on the side that connects or on the other, the system has none left three times.
func TestNothingLeftForAnAgreedConnection(t *testing.T) {
	for _, why := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS} {
		for name, side := range map[string]struct {
			rank base.Rank
			dial int32 // calls that do not fail
		}{"connects": {0, 1}, "is connected to": {1, 0}} {
			t.Run(name+", "+why.Error(), func(t *testing.T) {
				const failures = 3
				var lost losses
				var calls atomic.Int32
				calls.Store(100) // while ranks begin to listen
				ranks := join(t, 2, func(r base.Rank, cfg *Config) {
					cfg.Lost = lost.note
					cfg.within = func(do func() error) error {
						if r == side.rank {
							if n := calls.Add(1) - side.dial; n >= 1 && n <= failures {
								return os.NewSyscallError("fcntl", why)
							}
						}
						return do()
					}
				})
				calls.Store(0)
				ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
				ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
				if n := calls.Load(); n <= side.dial+failures || lost.count() != 0 {
					t.Errorf("%d calls; lost %v", n, lost.all)
				}
			})
		}
	}
}

// A peer whose host answers, and that finishes no handshake for longer than a peer may be
// silent, is not lost: it may be busy, suspended or among strangers.
func TestHandshakesThatComeToNoEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(c net.Conn)
	}{
		{"closed at once", func(c net.Conn) {}},
		{"closed after the opening", func(c net.Conn) { io.ReadFull(c, make([]byte, 120)) }},
		{"reset", func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait
			l, err := net.Listen("tcp", "127.0.0.1:0")
			ok(t, err)
			defer l.Close()
			var calls atomic.Int32
			begun, enough := time.Now(), make(chan struct{})
			const silence = 100 * time.Millisecond
			go func() {
				for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
					c.do(conn)
					conn.Close()
					if calls.Add(1) >= 5 && time.Since(begun) > 4*silence {
						close(enough)
						return
					}
				}
			}()
			var lost losses
			var ranks []*Transport
			ranks = join(t, 2, func(me base.Rank, cfg *Config) {
				cfg.Silence, cfg.Lost = silence, lost.note
				cfg.Lookup = func(_ context.Context, r base.Rank) (string, error) {
					select {
					case <-enough:
						return ranks[r].Address(), nil
					default:
						return l.Addr().String(), nil
					}
				}
			})
			ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
			if lost.count() != 0 {
				t.Errorf("ranks were lost: %v", lost.all)
			}
		})
	}
}

// One that is known to be gone is not asked again.
func TestHandshakesWithOneThatIsGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer l.Close()
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
		cfg.Lookup = func(context.Context, base.Rank) (string, error) { return l.Addr().String(), nil }
	})
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			conn.Close()
			ranks[0].Lose(&base.RankError{Rank: 1, Reason: "the launcher says so"})
		}
	}()
	err = linkTo(t, ranks[0], 1).Ping(testenv.Context(t))
	isGone(t, "ping", err, 1)
	if !strings.Contains(err.Error(), "the launcher says so") {
		t.Error(err)
	}
}

// A refused connection is tried again for as long as the peer may be silent, and no longer
// than until it is known to be gone.
func TestRefusedByOneThatIsGone(t *testing.T) {
	nowhere := testenv.FreeAddress(t)
	const tries = 3
	var ranks []*Transport
	var dials atomic.Int32
	ranks = join(t, 2, func(r base.Rank, cfg *Config) {
		cfg.Silence = time.Hour
		cfg.Lookup = func(context.Context, base.Rank) (string, error) {
			if dials.Add(1) == tries {
				ranks[r].Lose(&base.RankError{Rank: 1 - r, Reason: "the launcher says so"})
			}
			return nowhere, nil
		}
	})
	err := linkTo(t, ranks[0], 1).Ping(testenv.Context(t))
	isGone(t, "ping", err, 1)
	if n := dials.Load(); !strings.Contains(err.Error(), "the launcher says so") || n < tries {
		t.Errorf("%v after %d attempts", err, n)
	}
}

// Somebody else at the peer's address is not the peer, however long it answers.
func TestSomebodyElseAtThePeersAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer l.Close()
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n"+strings.Repeat(" ", 100))
			io.ReadFull(conn, make([]byte, 120))
			conn.Close()
		}
	}()
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
		cfg.Silence = 250 * time.Millisecond
		cfg.Lookup = func(context.Context, base.Rank) (string, error) { return l.Addr().String(), nil }
	})
	err = linkTo(t, ranks[0], 1).Ping(testenv.Context(t))
	isGone(t, "ping", err, 1)
	if !strings.Contains(err.Error(), auth.ErrUnproven.Error()) {
		t.Error(err)
	}
}

// 3,000 strangers that say nothing, or an opening, hold up neither first contact nor life.
func TestStrangersAtEveryRank(t *testing.T) {
	strangers := 3000
	var limit syscall.Rlimit
	ok(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	const ends, listeners = 2, 2 // this process has both ends of all connections
	if most := int(limit.Cur)/(ends*listeners) - 200; strangers > most {
		strangers = most
	}
	if strangers < 100 {
		t.Skipf("only %d descriptors", limit.Cur)
	}
	var lost losses
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) { cfg.Lost = lost.note })
	for i := range strangers * listeners {
		c, err := net.Dial("tcp", ranks[i%listeners].Address())
		ok(t, err)
		defer c.Close()
		if i%4 == 0 {
			io.WriteString(c, "GASPIGO\x02")
		}
	}
	begun := time.Now()
	for _, l := range []*link{linkTo(t, ranks[0], 1), linkTo(t, ranks[1], 0)} {
		for n := range ranks[0].cfg.Connections {
			_, err := l.conn(testenv.Context(t), uint32(n))
			ok(t, err)
		}
		ok(t, l.Ping(testenv.Context(t)))
	}
	t.Logf("%d strangers at each rank; first contact on %d lanes took %v", strangers, ranks[0].cfg.Connections, time.Since(begun))
	if lost.count() != 0 {
		t.Errorf("ranks were lost: %v", lost.all)
	}
}
