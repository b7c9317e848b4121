package auth

import (
	"crypto/tls"
	"net"
	"testing"
)

// BenchmarkHandshake is both sides of one handshake on one machine, over loopback TCP.
func BenchmarkHandshake(b *testing.B) {
	job := NewAuthority("j")
	authority, own, err := job.key.TLS("j")
	if err != nil {
		b.Fatal(err)
	}
	bare := Credentials{Key: job.key}
	for _, c := range []struct {
		name             string
		role             Role
		dialer, acceptor Credentials
		server, client   *tls.Config
	}{
		{"key/lane", RoleLane, bare, bare, nil, nil},
		{"identity/lane", RoleLane, job.Rank(1), job.Rank(0), nil, nil},
		{"identity/session", RoleSession, job.Rank(1), job.Launcher(), nil, nil},
		{"identity/session/TLS", RoleSession, job.Rank(1), job.Launcher(), authority, own},
	} {
		b.Run(c.name, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			passed := make(chan net.Conn, 1)
			go NewGate(GateConfig{Credentials: c.acceptor, TLS: c.server}).Serve(l, func(conn net.Conn, _ Hello) { passed <- conn })
			b.ReportAllocs()
			for b.Loop() {
				conn, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := Client(conn, c.dialer, Hello{Role: c.role, Job: "j", From: 1}, c.client); err != nil {
					b.Fatal(err)
				}
				conn.Close()
				(<-passed).Close()
			}
		})
	}
}
