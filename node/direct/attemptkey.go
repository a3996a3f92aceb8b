package direct

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

var (
	errPin   = errors.New("the other machine has a different key than the gateway announced")
	errProof = errors.New("the other machine does not have the transfer's token")
)

// attemptKey is one end of one attempt: a key that is never stored, and its certificate.
type attemptKey struct {
	cert tls.Certificate
	pin  identity.Pin
}

func newAttemptKey() (attemptKey, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return attemptKey{}, fmt.Errorf("create a key: %w", err)
	}
	now := time.Now()
	form := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "fairlead transfer"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, public, key)
	if err != nil {
		return attemptKey{}, fmt.Errorf("create a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return attemptKey{}, fmt.Errorf("create a certificate: %w", err)
	}
	return attemptKey{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, identity.PinOf(leaf)}, nil
}

// application separates the connection from other protocols on the same port (ALPN).
const application = "fairlead-transfer"

// config returns the TLS configuration of either end, which accepts only a peer with the pin.
func (i attemptKey) config(other identity.Pin) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.cert}, NextProtos: []string{application},
		ClientAuth: tls.RequireAnyClientCert, SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
		// The pin is checked instead: no authority vouches for a key that exists for one transfer.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if !other.Matches(state) {
				return errPin
			}
			return nil
		},
	}
}

// tokenSize is the length of tokens and proofs, in bytes.
const tokenSize = sha256.Size

// secret is a transfer's token.
type secret []byte

func newSecret() secret {
	b := make([]byte, tokenSize)
	rand.Read(b) // never fails
	return b
}

func parseSecret(s string) (secret, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) != tokenSize {
		return nil, errors.New("the transfer's token is damaged")
	}
	return b, nil
}

// text returns the token in the form that is sent to the gateway.
func (s secret) text() string { return base64.StdEncoding.EncodeToString(s) }

// The end that proves to have the token.
const (
	bySource      = "source"
	byDestination = "destination"
)

// exporterLabel separates our use of RFC 8446 exporters (section 7.5) from others'.
const exporterLabel = "EXPORTER-fairlead-transfer-1"

// proof shows that an end has the token. It is valid in this TLS session and for this transfer
// only.
func (s secret) proof(who string, id protocol.TransferID, state tls.ConnectionState) ([]byte, error) {
	session, err := state.ExportKeyingMaterial(exporterLabel, []byte(id), 32)
	if err != nil {
		return nil, fmt.Errorf("bind the token to the connection: %w", err)
	}
	m := hmac.New(sha256.New, s)
	m.Write([]byte(who + "\x00"))
	m.Write(session)
	return m.Sum(nil), nil
}
