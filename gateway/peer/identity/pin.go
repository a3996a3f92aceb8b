package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Pin is a gateway's identity on the network: the standard base64 of the SHA-256 of its
// certificate's public key, as in curl's --pinnedpubkey and RFC 7469. A renewed certificate has the
// same key.
type Pin string

// PinOf returns the pin of a certificate.
func PinOf(cert *x509.Certificate) Pin {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return Pin(base64.StdEncoding.EncodeToString(sum[:]))
}

// ParsePin parses a pin in either base64 alphabet, with or without padding.
func ParsePin(s string) (Pin, error) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if raw, err := enc.DecodeString(s); err == nil && len(raw) == sha256.Size {
			return Pin(base64.StdEncoding.EncodeToString(raw)), nil
		}
	}
	return "", errors.New("invalid gateway fingerprint")
}

// Sum returns the hash; nil for an invalid pin.
func (p Pin) Sum() []byte {
	raw, err := base64.StdEncoding.DecodeString(string(p))
	if err != nil || len(raw) != sha256.Size {
		return nil
	}
	return raw
}

// Words returns the first four words of the pin.
func (p Pin) Words() []string {
	if sum := p.Sum(); sum != nil {
		return Words(sum, ShortWords)
	}
	return nil
}

// Matches reports whether the certificate that the other side of a connection showed has the pin.
func (p Pin) Matches(state tls.ConnectionState) bool {
	certs := state.PeerCertificates
	return len(certs) > 0 && subtle.ConstantTimeCompare([]byte(PinOf(certs[0])), []byte(p)) == 1
}

// ErrWrongPin is returned when another machine than the paired gateway answers. Nothing was sent to
// it.
var ErrWrongPin = protocol.ErrForbidden.With("the machine at this address is not the paired gateway: it has a different key. Nothing was sent to it")

// exporterLabel separates this use of TLS exporters (RFC 8446, section 7.5) from others.
const exporterLabel = "EXPORTER-fairlead-device-1"

// Binding returns a value that only the two sides of a TLS session know (RFC 9266, tls-exporter).
// Signing it binds an identity to the session.
func Binding(state tls.ConnectionState) ([]byte, error) {
	if state.Version != tls.VersionTLS13 {
		return nil, errors.New("the connection is not TLS 1.3")
	}
	return state.ExportKeyingMaterial(exporterLabel, nil, 32)
}

// dialLimit is the time limit per address until its certificate is known.
const dialLimit = 10 * time.Second

// Dial connects to the first of addresses (host:port) whose certificate has the pin. An empty pin
// accepts any certificate; only a pairing may use it. Nothing is sent before the certificate was
// checked. The error is [ErrWrongPin] when only other machines answered.
func Dial(ctx context.Context, addresses []string, pin Pin) (conn *tls.Conn, got Pin, err error) {
	if pin != "" && pin.Sum() == nil {
		return nil, "", errors.New("the pin is damaged")
	}
	err = protocol.ErrUnavailable.With("the address of the gateway is unknown")
	for _, address := range addresses {
		c, have, e := dialOne(ctx, address, pin)
		if e == nil {
			return c, have, nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if !errors.Is(err, ErrWrongPin) {
			err = e
		}
	}
	return nil, "", err
}

func dialOne(ctx context.Context, address string, pin Pin) (*tls.Conn, Pin, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, "", protocol.ErrUnavailable.With(format.Unreachable(address, err))
	}
	var have Pin
	conn := tls.Client(raw, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // the pin replaces the certificate check: no authority certifies a gateway at home
		VerifyConnection: func(state tls.ConnectionState) error {
			have = PinOf(state.PeerCertificates[0])
			if pin != "" && !pin.Matches(state) {
				return ErrWrongPin
			}
			return nil
		},
	})
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		if errors.Is(err, ErrWrongPin) {
			return nil, "", ErrWrongPin
		}
		return nil, "", protocol.ErrUnavailable.With(format.Unreachable(address, err))
	}
	return conn, have, nil
}

// CheckAddress returns an error for anything but host:port.
func CheckAddress(a string) error {
	host, port, err := net.SplitHostPort(a)
	if n, e := strconv.Atoi(port); err != nil || host == "" || strings.ContainsAny(host, "/?#@ ") || e != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%.80q is not a gateway address: enter host:port", a)
	}
	return nil
}
