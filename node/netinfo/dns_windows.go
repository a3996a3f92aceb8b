package netinfo

import (
	"errors"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// dns collects the name servers of all interfaces that are up.
func dns() (DNS, error) {
	first, err := adapters()
	if err != nil {
		return DNS{}, err
	}
	out := DNS{Nameservers: []string{}, Search: []string{}, Options: []string{}, Source: "network interfaces"}
	for a := first; a != nil; a = a.Next {
		if a.OperStatus != windows.IfOperStatusUp {
			continue
		}
		for s := a.FirstDnsServerAddress; s != nil; s = s.Next {
			if ip := s.Address.IP(); ip != nil && !slices.Contains(out.Nameservers, ip.String()) {
				out.Nameservers = append(out.Nameservers, ip.String())
			}
		}
		if suffix := windows.UTF16PtrToString(a.DnsSuffix); suffix != "" && !slices.Contains(out.Search, suffix) {
			out.Search = append(out.Search, suffix)
		}
	}
	out.findStub()
	return out, nil
}

// adapters returns the list of interfaces. It may grow between two calls.
func adapters() (*windows.IpAdapterAddresses, error) {
	for size := uint32(16 << 10); ; {
		buf := make([]byte, size)
		first := (*windows.IpAdapterAddresses)(unsafe.Pointer(&buf[0]))
		err := windows.GetAdaptersAddresses(windows.AF_UNSPEC, 0, 0, first, &size)
		if err == nil {
			return first, nil
		}
		if !errors.Is(err, windows.ERROR_BUFFER_OVERFLOW) || size <= uint32(len(buf)) {
			return nil, err
		}
	}
}
