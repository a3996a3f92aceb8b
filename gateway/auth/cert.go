package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
)

// CertKeyName is the name of the network key in the secret store.
const CertKeyName = "network-key"

// certLife is long: the key is pinned and the certificate is made anew at each start, so that an
// expiry date would have no use.
const certLife = 20 * 365 * 24 * time.Hour

// OpenCertificate returns a certificate for the gateway's key, which it creates and stores the
// first time. The key is P-256, which curl and the TLS of every operating system support.
func OpenCertificate(store keychain.Store, now time.Time) (tls.Certificate, identity.Pin, error) {
	key, err := certKey(store)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("create a certificate: %w", err)
	}
	template := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "fairlead"}, DNSNames: []string{"fairlead"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certLife), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("create a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("read the certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, identity.PinOf(leaf), nil
}

func certKey(store keychain.Store) (*ecdsa.PrivateKey, error) {
	text, err := store.Get(CertKeyName)
	if errors.Is(err, keychain.ErrNotFound) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("create the network key: %w", err)
		}
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return nil, fmt.Errorf("encode the network key: %w", err)
		}
		if err := store.Set(CertKeyName, keychain.Secret(base64.StdEncoding.EncodeToString(der))); err != nil {
			return nil, fmt.Errorf("store the network key: %w", err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the network key: %w", err)
	}
	der, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil {
		return nil, fmt.Errorf("the network key is damaged: %w", err)
	}
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("the network key is damaged: %w", err)
	}
	return key, nil
}
