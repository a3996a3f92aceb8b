package rpc

import (
	"context"

	"fairlead/gateway/apps"
	"fairlead/gateway/protocol"
)

func registerApps(all methods, a *apps.Apps) {
	handle(all, protocol.AppsList, query(a.List))
	handle(all, protocol.AppUpdate, withCaller(a.Update))
	handle(all, protocol.AppRevoke, withAck(func(ctx context.Context, by string, p protocol.AppParams) error {
		return a.Revoke(ctx, by, p.ID)
	}))
	handle(all, protocol.TokenCreate, withCaller(a.CreateToken))
	handle(all, protocol.ConsentAnswer, withCaller(a.Answer))
}
