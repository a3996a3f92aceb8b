package rpc

import (
	"context"
	"errors"

	"fairlead/gateway/protocol"
	"fairlead/gateway/provision"
)

func registerProvisioning(all methods, m *provision.Manager) {
	handle(all, protocol.ProvisionList, query(func(context.Context) (protocol.ProvisionListResult, error) { return m.Overview(), nil }))
	handle(all, protocol.ProvisionOfferOf, plain(func(ctx context.Context, p protocol.ProvisionParams) (protocol.ProvisionOffer, error) {
		o, err := m.Offer(ctx, p)
		if f, ok := errors.AsType[*protocol.Fault](err); ok {
			err = protocol.ErrBadRequest.With(f.Message)
		}
		return o, err
	}))
	handle(all, protocol.ProvisionSettings, withAck(m.SetSettings))
}
