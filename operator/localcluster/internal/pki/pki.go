// Package pki makes the certificates and kubeconfigs of a throw-away cluster.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const validity = 365 * 24 * time.Hour

// Pair is a certificate with its key.
type Pair struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// CA signs the certificates of one trust domain.
type CA struct{ Pair }

// Leaf describes a certificate to be signed. One with Hosts is a server's, one
// without is a client's.
type Leaf struct {
	CommonName   string
	Organization string
	Hosts        []string // DNS names and IP addresses
}

// NewCA makes a self-signed authority.
func NewCA(commonName string) (*CA, error) {
	template := newTemplate(pkix.Name{CommonName: commonName})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	pair, err := sign(template, nil)
	if err != nil {
		return nil, err
	}
	return &CA{Pair: *pair}, nil
}

// Sign makes a certificate with a fresh key.
func (ca *CA) Sign(leaf Leaf) (*Pair, error) {
	name := pkix.Name{CommonName: leaf.CommonName}
	if leaf.Organization != "" {
		name.Organization = []string{leaf.Organization}
	}
	template := newTemplate(name)
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(leaf.Hosts) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, host := range leaf.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return sign(template, ca)
}

func newTemplate(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject:   subject,
		NotBefore: now.Add(-time.Hour), // a clock that is stepped back must not invalidate it
		NotAfter:  now.Add(validity),
	}
}

// sign signs with the authority, or by itself where there is none.
func sign(template *x509.Certificate, ca *CA) (*Pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	parent, signer := template, crypto.Signer(key)
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", template.Subject.CommonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Pair{cert: cert, key: key}, nil
}

// CertPEM is the certificate in PEM.
func (p *Pair) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw})
}

// KeyPEM is the private key in PEM.
func (p *Pair) KeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// PublicKeyPEM is the public key alone, as service account verification wants it.
func (p *Pair) PublicKeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.key.Public())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}
