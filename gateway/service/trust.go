package service

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
)

// UnknownCertificate is the failure of a connection to an app whose certificate is neither valid
// nor trusted by the owner, or is valid while the owner trusts another one.
type UnknownCertificate struct {
	Leaf    *x509.Certificate
	IsValid bool
}

func (e *UnknownCertificate) Error() string {
	names := append([]string{}, e.Leaf.DNSNames...)
	for _, ip := range e.Leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		names = []string{e.Leaf.Subject.String()}
	}
	return fmt.Sprintf("its certificate is unknown: issued by %s for %s, valid until %s, with the SHA-256 fingerprint %s",
		clip(e.Leaf.Issuer.String()), clip(strings.Join(names, ", ")), e.Leaf.NotAfter.UTC().Format("2 January 2006"), e.Fingerprint())
}

// clip keeps what a certificate says from filling a question.
func clip(text string) string { return fmt.Sprintf("%.200q", text) }

// Fingerprint returns the SHA-256 of the certificate in hex, by which the owner trusts it.
func (e *UnknownCertificate) Fingerprint() string {
	sum := sha256.Sum256(e.Leaf.Raw)
	return hex.EncodeToString(sum[:])
}

// handshake begins TLS with a target. The certificate of an app on the machine itself is not
// checked: nothing leaves the machine, and such apps make their own. Another one must be that with
// the trusted fingerprint; without one, it must be valid.
func (p *Site) handshake(ctx context.Context, plain net.Conn, t Target, trusted string) (net.Conn, error) {
	check := func(s tls.ConnectionState) error {
		leaf := s.PeerCertificates[0]
		unknown := &UnknownCertificate{Leaf: leaf}
		if publicnet.IsLoopback(t.Host) || unknown.Fingerprint() == trusted {
			return nil
		}
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: t.Host, Intermediates: between, Roots: p.roots})
		if unknown.IsValid = err == nil; unknown.IsValid && trusted == "" {
			return nil
		}
		return unknown
	}
	c := tls.Client(plain, &tls.Config{ServerName: t.Host, InsecureSkipVerify: true, VerifyConnection: check}) // check does it
	if err := c.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, err
	}
	return c, nil
}

// probeLimit bounds a look at the certificate of a target.
const probeLimit = 10 * time.Second

// Probe connects to a target of a machine. It fails with an [*UnknownCertificate] if the owner
// would have to trust the target's certificate, and does not look at a target without one.
func (p *Site) Probe(ctx context.Context, node protocol.NodeID, t Target) error {
	if !t.TLS || publicnet.IsLoopback(t.Host) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	plain, err := p.dial(ctx, node, "", t)
	if err != nil {
		return err
	}
	c, err := p.handshake(ctx, plain, t, "")
	if err == nil {
		c.Close()
	}
	return err
}

// deniedCertificateFor is the time after which a visit asks again about a certificate that the owner
// has denied.
const deniedCertificateFor = time.Hour

// certificateQuestions asks the owner about certificates that visits meet, one at a time for each
// service.
type certificateQuestions struct {
	ask func(protocol.Service, *UnknownCertificate) (isDenied bool) // waits for the answer

	mu     sync.Mutex // guards the fields below
	open   map[protocol.ServiceID]bool
	denied map[string]time.Time // by the service and the fingerprint
}

func newCertificateQuestions(ask func(protocol.Service, *UnknownCertificate) bool) *certificateQuestions {
	return &certificateQuestions{ask: ask, open: make(map[protocol.ServiceID]bool), denied: make(map[string]time.Time)}
}

// begin asks about a certificate of a service, unless that was done.
func (q *certificateQuestions) begin(v protocol.Service, unknown *UnknownCertificate) {
	key := string(v.ID) + " " + unknown.Fingerprint()
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.denied, func(_ string, at time.Time) bool { return time.Since(at) >= deniedCertificateFor })
	if _, isDenied := q.denied[key]; isDenied || q.open[v.ID] {
		return
	}
	q.open[v.ID] = true
	crash.Go(func() {
		isDenied := q.ask(v, unknown)
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, v.ID)
		if isDenied {
			q.denied[key] = time.Now()
		}
	})
}
