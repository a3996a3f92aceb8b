package address

import (
	"context"
	"net"

	"fairlead/gateway/protocol"
)

// Exposures states where the services listen besides the gateway's own listener.
func (a *Addresses) Exposures(context.Context) ([]protocol.Exposure, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []protocol.Exposure
	for s, l := range a.open {
		if l.at == nil || l.problem() != "" {
			continue
		}
		e := protocol.Exposure{ID: protocol.ExposureListener + ":" + l.at.String(), Kind: protocol.ExposureListener, Title: l.at.String()}
		switch s.kind {
		case domainKind:
			e.Reach = "Browsers reach the published apps below " + s.domain + ". The setting services.domain closes it."
		case redirectKind:
			e.Reach = "Browsers are led to the published apps below " + s.domain + ", and reach nothing here. The setting services.redirectListen closes it."
		default:
			e.Reach = "Browsers reach the published app " + s.service + ", which closes it."
		}
		if host, _, err := net.SplitHostPort(l.at.String()); err == nil && !net.ParseIP(host).IsLoopback() {
			e.Warnings = []string{protocol.WarnNetwork}
		}
		list = append(list, e)
	}
	return list, nil
}
