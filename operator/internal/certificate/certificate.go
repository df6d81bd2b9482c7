// Package certificate makes the certificates of a cluster: an authority, and what it signs. It knows nothing of Kubernetes.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Pair is a certificate and its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// How long servers' certificates are good for, and how much of that is left when they are made anew, whoever makes them.
const (
	LeafLife = 90 * 24 * time.Hour
	LeafLeft = 30 * 24 * time.Hour
)

const (
	authorityLife, authorityLeft = 10 * 365 * 24 * time.Hour, 365 * 24 * time.Hour
	// clockDifference is how late a server's clock may be.
	clockDifference = time.Hour
)

// NewAuthority makes one that signs for a cluster.
func NewAuthority(name string, now time.Time) (Pair, error) {
	template := newTemplate(name, now, authorityLife)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	return make509(template, nil)
}

// Sign makes a certificate with which a server serves under all of these names, and logs in at others.
func (authority Pair) Sign(names []string, now time.Time) (Pair, error) {
	signer, err := tls.X509KeyPair(authority.Certificate, authority.Key)
	if err != nil {
		return Pair{}, fmt.Errorf("the authority's certificate and key: %w", err)
	}
	template := newTemplate(names[0], now, LeafLife)
	template.DNSNames = names
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	return make509(template, &signer)
}

// AuthorityIsOld: it is time for another one.
func (authority Pair) AuthorityIsOld(now time.Time) bool {
	c, err := parse(authority.Certificate)
	return err != nil || now.After(c.NotAfter.Add(-authorityLeft))
}

// IsOlderThan says when a certificate was made, by what it says itself.
func (authority Pair) IsOlderThan(age time.Duration, now time.Time) bool {
	c, err := parse(authority.Certificate)
	return err == nil && now.After(c.NotBefore.Add(clockDifference+age))
}

// IsOver: it is good for nothing any more.
func (authority Pair) IsOver(now time.Time) bool {
	c, err := parse(authority.Certificate)
	return err != nil || now.After(c.NotAfter)
}

// Fits says that a certificate need not be made anew: by this authority, for these names, and good for a while.
func (authority Pair) Fits(leaf Pair, names []string, now time.Time) bool {
	c, err := parse(leaf.Certificate)
	if err != nil || now.After(c.NotAfter.Add(-LeafLeft)) || !slices.Equal(c.DNSNames, names) {
		return false
	}
	if _, err := tls.X509KeyPair(leaf.Certificate, leaf.Key); err != nil {
		return false
	}
	issuer, err := parse(authority.Certificate)
	return err == nil && c.CheckSignatureFrom(issuer) == nil
}

// Check says why servers cannot use a certificate that somebody else has made; nil when they can.
func Check(leaf Pair, authorities []byte, names []string, now time.Time) error {
	if _, err := tls.X509KeyPair(leaf.Certificate, leaf.Key); err != nil {
		return fmt.Errorf("tls.crt and tls.key: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return errors.New("ca.crt has no certificate")
	}
	c, err := parse(leaf.Certificate)
	if err != nil {
		return fmt.Errorf("tls.crt: %w", err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := c.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates(leaf.Certificate), CurrentTime: now,
			KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			return fmt.Errorf("tls.crt must be good for servers and for clients, by ca.crt: %w", err)
		}
	}
	for _, name := range names {
		if err := c.VerifyHostname(name); err != nil {
			return fmt.Errorf("tls.crt: %w", err)
		}
	}
	return nil
}

// ClientConfig has a client show this certificate, and accept servers by the authorities and the name alone. A server whose
// certificate has expired is who it says it is all the same: who controls it must reach it to give it another one.
func ClientConfig(leaf Pair, authorities []byte, serverName string) (*tls.Config, error) {
	own, err := tls.X509KeyPair(leaf.Certificate, leaf.Key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, errors.New("there is no certificate of an authority")
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		Certificates:       []tls.Certificate{own},
		ServerName:         serverName,
		InsecureSkipVerify: true, // VerifyConnection does it, for any time
		VerifyConnection: func(state tls.ConnectionState) error {
			return verifyAtItsTime(state.PeerCertificates, roots, serverName)
		},
	}, nil
}

func verifyAtItsTime(shown []*x509.Certificate, roots *x509.CertPool, name string) error {
	if len(shown) == 0 {
		return errors.New("the server shows no certificate")
	}
	others := x509.NewCertPool()
	for _, c := range shown[1:] {
		others.AddCert(c)
	}
	var err error
	for _, at := range []time.Time{time.Now(), shown[0].NotAfter, shown[0].NotBefore} {
		if _, err = shown[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: others, DNSName: name, CurrentTime: at}); err == nil {
			return nil
		}
	}
	return err
}

func intermediates(chain []byte) *x509.CertPool {
	pool := x509.NewCertPool()
	_, rest := pem.Decode(chain)
	pool.AppendCertsFromPEM(rest)
	return pool
}

func newTemplate(name string, now time.Time, life time.Duration) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: commonName(name), Organization: []string{"commitlab"}},
		NotBefore: now.Add(-clockDifference).UTC().Truncate(time.Second),
		NotAfter:  now.Add(life).UTC().Truncate(time.Second),
	}
}

// commonName has at most 64 characters, which is what X.509 allows.
func commonName(name string) string { return name[:min(len(name), 64)] }

func make509(template *x509.Certificate, signer *tls.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return Pair{}, err
	}
	parent, by := template, any(key)
	if signer != nil {
		parent, by = signer.Leaf, signer.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return Pair{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}, nil
}

// parse reads the first certificate.
func parse(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it is not a certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}
