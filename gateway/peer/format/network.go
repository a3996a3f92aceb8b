package format

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
)

// Unreachable says why nothing could be sent to an address, host or host:port, and what to check.
// It returns the text of an error that it does not know.
func Unreachable(address string, err error) string {
	const check = ": check the network connection"
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var limited net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the address %s was not found: check the network connection and its spelling", address)
	case errors.As(err, &dns):
		return fmt.Sprintf("the address %s could not be looked up%s", address, check)
	case errors.As(err, &cert):
		return fmt.Sprintf("the connection to %s is not safe: its certificate is not valid there", address)
	case isErrno(err, syscall.ECONNREFUSED, 10061):
		return "nothing answers at " + address
	case isErrno(err, syscall.EHOSTUNREACH, syscall.ENETUNREACH, 10051, 10065):
		return address + " cannot be reached" + check
	case errors.As(err, &limited) && limited.Timeout():
		return address + " did not answer in time" + check
	}
	return fmt.Sprintf("the connection to %s failed: %v", address, err)
}

// isErrno reports whether err is one of the system's errors. The numbers of Windows
// (WSAECONNREFUSED and others) are not used elsewhere.
func isErrno(err error, list ...syscall.Errno) bool {
	return slices.ContainsFunc(list, func(e syscall.Errno) bool { return errors.Is(err, e) })
}
