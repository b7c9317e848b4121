package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"
)

// serverName is in all certificates of a job: who a peer is follows from the
// Hello, and the certificate only proves that it has the key.
const serverName = "rank.gaspi.internal"

// TLS returns settings for TLS 1.3 in which both sides prove that they hold the
// key: every holder derives the same certificate authority from key and job,
// and makes a certificate for itself on the spot, with a key that never leaves
// the process. Nothing is stored, and no clock has to be right. Both may be
// used for any number of connections, and must not be changed.
func (k Key) TLS(job string) (server, client *tls.Config, err error) {
	authority := ed25519.NewKeyFromSeed(k.derive("tls authority of job "+job, ed25519.SeedSize))
	root, err := authorityCertificate(authority)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate authority of the job: %w", err)
	}
	own, err := rankCertificate(root, authority)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of this rank: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	common := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{own},
		RootCAs:                pool,
		ClientCAs:              pool,
		ServerName:             serverName,
		ClientAuth:             tls.RequireAndVerifyClientCert,
		SessionTicketsDisabled: true, // each connection proves anew
	}
	return common, common.Clone(), nil
}

// template returns what all certificates of a job share. Times are as wide as
// they go, because a certificate is worth what the key is worth, and that ends
// with the job.
func template(serial *big.Int, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		BasicConstraintsValid: true,
	}
}

func authorityCertificate(authority ed25519.PrivateKey) (*x509.Certificate, error) {
	t := template(big.NewInt(1), "gaspi job")
	t.IsCA = true
	t.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, authority.Public(), authority)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func rankCertificate(root *x509.Certificate, authority ed25519.PrivateKey) (tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	t := template(serial, serverName)
	t.DNSNames = []string{serverName}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, t, root, public, authority)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, nil
}
