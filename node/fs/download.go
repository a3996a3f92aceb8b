package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
)

const (
	maxRedirects = 5
	connectLimit = 30 * time.Second
)

// download requests an address that the person has seen. Where its server redirects, and where a
// name leads, nobody has seen: neither may open this computer and its networks to whoever made the
// request.
type download struct {
	first    *url.URL
	headers  map[string]string
	isInside atomic.Bool // the first address is in this computer's networks, so that redirects may be
}

var errInside = errors.New("the address leads into this computer or its networks")

// get requests an address, and returns the body of a response with status 200.
func get(ctx context.Context, first *url.URL, headers map[string]string) (io.ReadCloser, error) {
	d, at := &download{first: first, headers: headers}, first
	for range maxRedirects + 1 {
		resp, err := d.request(ctx, at)
		if err != nil {
			return nil, requestFault(ctx, err)
		}
		to := resp.Header.Get("Location")
		if resp.StatusCode/100 != 3 || to == "" {
			return body(resp)
		}
		resp.Body.Close()
		if at, err = follow(at, to); err != nil {
			return nil, requestFault(ctx, err)
		}
	}
	return nil, requestFault(ctx, fmt.Errorf("more than %d redirects", maxRedirects))
}

// request makes one request and follows no redirect.
func (d *download) request(ctx context.Context, at *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if at.Scheme == d.first.Scheme && at.Host == d.first.Host { // they may contain a secret
		d.setHeaders(req)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout, transport.DisableKeepAlives = connectLimit, true
	if proxy, err := http.ProxyFromEnvironment(req); err == nil && proxy == nil { // a proxy decides itself
		dialer := &net.Dialer{Timeout: connectLimit, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return d.check(at, to.Addr().Unmap())
		}}
		transport.DialContext = dialer.DialContext
	}
	return transport.RoundTrip(req)
}

func (d *download) setHeaders(req *http.Request) {
	for name, value := range d.headers {
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection":
			continue
		}
		req.Header.Set(name, value)
	}
}

// check refuses to connect to an address on the way to at.
func (d *download) check(at *url.URL, to netip.Addr) error {
	switch {
	case publicnet.Has(to):
		return nil
	case at != d.first && !d.isInside.Load(), isDomain(at.Hostname()) && (to.IsLoopback() || to.IsLinkLocalUnicast() || to.IsUnspecified()):
		return errInside
	case at == d.first:
		d.isInside.Store(true)
	}
	return nil
}

// isDomain reports whether a host is a name that anybody can have lead anywhere: not an address, and
// not a name of this computer or its network.
func isDomain(host string) bool {
	host = strings.TrimSuffix(host, ".")
	_, err := netip.ParseAddr(host)
	return err != nil && strings.Contains(host, ".") && !strings.HasSuffix(host, ".localhost")
}

// follow returns the address to which a server redirects.
func follow(at *url.URL, to string) (*url.URL, error) {
	next, err := at.Parse(to)
	switch {
	case err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https":
		return nil, errors.New("the server redirects to something that is not a web address")
	case at.Scheme == "https" && next.Scheme == "http":
		return nil, errors.New("the server redirects to an address without encryption")
	}
	next.User = nil
	return next, nil
}

// requestFault returns the failure of a request without its address, which may contain a secret.
func requestFault(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return downloadFault(ctx.Err())
	case errors.Is(err, errInside):
		return protocol.NewFault(protocol.FaultPermissionDenied, "The server or the name leads to this computer or into its network, which url does not say. Nothing was written. If you mean that address, give it in url.")
	}
	return protocol.NewFault(protocol.FaultTargetUnreachable, "The address could not be reached: "+err.Error())
}

// body returns the body of a response with status 200.
func body(resp *http.Response) (io.ReadCloser, error) {
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	resp.Body.Close()
	code := protocol.FaultInternal
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		code = protocol.FaultNotFound
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		code = protocol.FaultPermissionDenied
	case resp.StatusCode < 500:
		code = protocol.FaultInvalidArgs
	}
	return nil, protocol.NewFault(code, fmt.Sprintf("The server answered with status %s. Nothing was written.", resp.Status))
}

func downloadFault(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return protocol.NewFault(protocol.FaultTimeout, fmt.Sprintf("The download took more than %v. Nothing was written.", downloadLimit))
	}
	return err
}
