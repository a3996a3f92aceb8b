package rpc

import (
	"context"

	"fairlead/gateway/apps"
	"fairlead/gateway/protocol"
)

func registerApps(all methods, a *apps.Apps, c Commands) {
	handle(all, protocol.AppsList, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.AppsListResult, error) {
		r, err := a.List(ctx)
		r.Commands = c.List()
		return r, err
	})
	handle(all, protocol.AppStop, withAck(func(ctx context.Context, _ string, p protocol.AppStopParams) error {
		if err := require("id required", p.ID); err != nil {
			return err
		}
		return c.Stop(ctx, p.ID)
	}))
	handle(all, protocol.AppUpdate, withCaller(a.Update))
	handle(all, protocol.AppRevoke, withAck(func(ctx context.Context, by string, p protocol.AppParams) error {
		return a.Revoke(ctx, by, p.ID)
	}))
	handle(all, protocol.TokenCreate, withCaller(a.CreateToken))
}
