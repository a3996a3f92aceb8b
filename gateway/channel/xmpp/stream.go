package xmpp

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
)

const (
	// maxStanza limits one stanza, in bytes.
	maxStanza = 1 << 20
	// handshakeLimit is the time limit for connecting and logging in.
	handshakeLimit = 30 * time.Second
	// writeLimit is the time limit for a write to the server.
	writeLimit = 30 * time.Second
)

// stream is a connection after login. Only one goroutine may read; several may write.
type stream struct {
	jid   string // full address, assigned by the server
	conn  net.Conn
	limit *limitedReader
	dec   *xml.Decoder

	write sync.Mutex // held during a write, so that stanzas are not interleaved
}

// limitedReader is a reader that fails when a stanza is too long.
type limitedReader struct {
	r    io.Reader
	left int
}

var errTooLong = errors.New("the server sent a stanza that is too long")

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// dial connects and logs in (RFC 6120). Before TLS it sends only the request for TLS.
func dial(ctx context.Context, l login) (s *stream, err error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	conn, err := connect(ctx, l)
	if err != nil {
		return nil, err
	}
	stop := crash.WhenDone(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if late := !stop(); late && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = errors.New("the server does not answer")
		} else if late && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			conn.Close()
			s = nil
		} else {
			conn.SetDeadline(time.Time{})
		}
	}()
	s = &stream{}
	s.use(conn)
	if err := s.secure(ctx, l); err != nil {
		return s, err
	}
	f, err := s.open(l.domain)
	if err != nil {
		return s, err
	}
	if err := s.authenticate(f.Mechanisms, l); err != nil {
		return s, err
	}
	s.use(s.conn)
	if f, err = s.open(l.domain); err != nil {
		return s, err
	}
	if f.Bind == nil {
		return s, errors.New("the server offers no resource")
	}
	return s, s.bind()
}

// secure upgrades the stream to TLS.
func (s *stream) secure(ctx context.Context, l login) error {
	f, err := s.open(l.domain)
	if err != nil {
		return err
	}
	if f.StartTLS == nil {
		return errors.New("the server offers no TLS; the password is not sent in the clear")
	}
	if err := s.send("<starttls xmlns='" + nsTLS + "'/>"); err != nil {
		return err
	}
	start, err := s.next()
	if err != nil {
		return err
	}
	if start.Name.Space != nsTLS || start.Name.Local != "proceed" {
		return errors.New("the server refused TLS")
	}
	conn := tls.Client(s.conn, &tls.Config{ServerName: l.domain, RootCAs: l.roots, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		return describeCertificateError(err)
	}
	s.use(conn)
	return nil
}

// describeCertificateError converts a certificate error to a sentence with the remedy.
func describeCertificateError(err error) error {
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("the server's certificate is not trusted, so the password was not sent (%w). If the server is yours, put its certificate into the account's settings", bad.Err)
	}
	return fmt.Errorf("TLS: %w", err)
}

// connect opens the TCP connection: to the configured server, to those that DNS names, or to the
// domain.
func connect(ctx context.Context, l login) (net.Conn, error) {
	var d net.Dialer
	var targets []string
	if l.server != "" {
		targets = []string{l.server}
	} else {
		if _, list, err := net.DefaultResolver.LookupSRV(ctx, "xmpp-client", "tcp", l.domain); err == nil {
			for _, r := range list {
				targets = append(targets, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))))
			}
		}
		if len(targets) == 0 {
			targets = []string{net.JoinHostPort(l.domain, "5222")}
		}
	}
	var errs []error
	for _, t := range targets {
		conn, err := d.DialContext(ctx, "tcp", t)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, errors.New(format.Unreachable(t, err)))
	}
	return nil, errors.Join(errs...)
}

// use begins a new XML stream over conn.
func (s *stream) use(conn net.Conn) {
	s.conn = conn
	s.limit = &limitedReader{r: conn, left: maxStanza}
	s.dec = xml.NewDecoder(s.limit)
}

// open sends the stream's header and reads the server's header and features.
func (s *stream) open(domain string) (features, error) {
	var f features
	if err := s.send("<?xml version='1.0'?><stream:stream to='" + esc(domain) + "' version='1.0' xml:lang='en' xmlns='" + nsClient + "' xmlns:stream='" + nsStream + "'>"); err != nil {
		return f, err
	}
	for {
		t, err := s.dec.Token()
		if _, ok := errors.AsType[*xml.SyntaxError](err); ok {
			err = fmt.Errorf("this is not an XMPP server: %w", err)
		}
		if err != nil {
			return f, err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Space != nsStream || start.Name.Local != "stream" {
			return f, fmt.Errorf("this is not an XMPP server: it sent <%s>", start.Name.Local)
		}
		break
	}
	start, err := s.read(&f)
	if err == nil && (start.Name.Space != nsStream || start.Name.Local != "features") {
		err = fmt.Errorf("the server sent <%s> instead of its features", start.Name.Local)
	}
	return f, err
}

// read decodes the next stanza into v.
func (s *stream) read(v any) (start xml.StartElement, err error) {
	if start, err = s.next(); err == nil {
		err = s.dec.DecodeElement(v, &start)
	}
	return start, err
}

// next returns the start element of the next stanza, which the caller must decode or skip. At the
// end of the stream it returns io.EOF or the server's reason.
func (s *stream) next() (xml.StartElement, error) {
	s.limit.left = maxStanza
	for {
		t, err := s.dec.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Space == nsStream && t.Name.Local == "error" {
				var e streamError
				s.dec.DecodeElement(&e, &t)
				return xml.StartElement{}, e.error()
			}
			return t, nil
		case xml.EndElement:
			return xml.StartElement{}, io.EOF
		case xml.CharData:
			s.limit.left = maxStanza // white space between stanzas is a keepalive
		}
	}
}

func (e streamError) error() error {
	words := "the server closed the connection"
	for _, x := range e.Inner {
		if x.XMLName.Local != "text" {
			words += ": " + strings.ReplaceAll(x.XMLName.Local, "-", " ")
		}
	}
	if e.Text != "" {
		words += " (" + e.Text + ")"
	}
	return errors.New(words)
}

// send writes a text as a whole.
func (s *stream) send(text string) error {
	s.write.Lock()
	defer s.write.Unlock()
	if s.jid != "" {
		s.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	}
	_, err := io.WriteString(s.conn, text)
	return err
}
