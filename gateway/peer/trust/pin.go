package trust

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
	"time"

	"fairlead/gateway/protocol"
)

// Pin is a gateway's identity on the network: the standard base64 of the SHA-256 of its certificate's public key (the form that curl's
// --pinnedpubkey and RFC 7469 use). The certificate may be made anew, the key stays.
type Pin string

// PinOf is the pin of a certificate.
func PinOf(cert *x509.Certificate) Pin {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return Pin(base64.StdEncoding.EncodeToString(sum[:]))
}

// ParsePin reads a pin in either alphabet of base64, with or without padding.
func ParsePin(s string) (Pin, error) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if raw, err := enc.DecodeString(s); err == nil && len(raw) == sha256.Size {
			return Pin(base64.StdEncoding.EncodeToString(raw)), nil
		}
	}
	return "", errors.New("this is no fingerprint of a gateway")
}

// sum is the pin's hash; nil for one that is none.
func (p Pin) sum() []byte {
	raw, err := base64.StdEncoding.DecodeString(string(p))
	if err != nil || len(raw) != sha256.Size {
		return nil
	}
	return raw
}

// Words are the pin's first four words.
func (p Pin) Words() []string {
	if sum := p.sum(); sum != nil {
		return Words(sum, shortWords)
	}
	return nil
}

// ErrPin says that whoever answered is not the gateway that was paired. Nothing was sent to it.
var ErrPin = protocol.ErrForbidden.With("the machine that answers is not the gateway that was paired: its key is another. Nothing was sent to it")

// exporterLabel separates our use of RFC 8446 exporters (section 7.5) from others'.
const exporterLabel = "EXPORTER-fairlead-device-1"

// Binding is what only the two ends of a TLS session know (RFC 9266, tls-exporter). Signing it ties an identity to the session.
func Binding(state tls.ConnectionState) ([]byte, error) {
	if state.Version != tls.VersionTLS13 {
		return nil, errors.New("the connection is not TLS 1.3")
	}
	return state.ExportKeyingMaterial(exporterLabel, nil, 32)
}

// dialLimit is how long one address may take until its certificate is known.
const dialLimit = 10 * time.Second

// Dial connects to the first of addresses (host:port) whose certificate has the pin; an empty pin takes any certificate, which only a pairing
// may do. It sends nothing before the certificate was checked. The error is [ErrPin] when another machine answered and none was right.
func Dial(ctx context.Context, addresses []string, pin Pin) (conn *tls.Conn, got Pin, err error) {
	if pin != "" && pin.sum() == nil {
		return nil, "", errors.New("the pin is damaged")
	}
	err = protocol.ErrUnavailable.With("no address of the gateway is known")
	for _, address := range addresses {
		c, have, e := dialOne(ctx, address, pin)
		if e == nil {
			return c, have, nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if !errors.Is(err, ErrPin) {
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
		return nil, "", protocol.ErrUnavailable.With(fmt.Sprintf("connect to %s: %v", address, err))
	}
	var have Pin
	conn := tls.Client(NewPile(raw), &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // the pin is the check: no authority vouches for a gateway in a living room
		VerifyConnection: func(state tls.ConnectionState) error {
			have = PinOf(state.PeerCertificates[0])
			if pin != "" && subtle.ConstantTimeCompare([]byte(have), []byte(pin)) != 1 {
				return ErrPin
			}
			return nil
		},
	})
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		if errors.Is(err, ErrPin) {
			return nil, "", ErrPin
		}
		return nil, "", protocol.ErrUnavailable.With(fmt.Sprintf("connect to %s: %v", address, err))
	}
	return conn, have, nil
}
