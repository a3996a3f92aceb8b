package rpc

import (
	"context"

	"fairlead/gateway/protocol"
)

// configMethods are the methods for settings.
type configMethods struct{ config Config }

func (m configMethods) register(all methods) {
	handle(all, protocol.ConfigGet, m.get)
	handle(all, protocol.ConfigSet, m.set)
	handle(all, protocol.ConfigSchema, func(context.Context, *request, protocol.Empty) (protocol.ConfigSchemaResult, error) {
		return protocol.ConfigSchemaResult{Fields: list(m.config.Schema())}, nil
	})
}

func (m configMethods) get(_ context.Context, _ *request, p protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
	if p.Path == "" {
		all, err := m.config.All()
		return protocol.ConfigGetResult{Config: all}, err
	}
	value, _, err := m.config.Read(p.Path)
	return protocol.ConfigGetResult{Path: p.Path, Value: value}, err
}

func (m configMethods) set(ctx context.Context, r *request, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
	if p.Path == "" {
		return protocol.ConfigSetResult{}, protocol.ErrBadRequest.With("path required")
	}
	// the token gives the owner's rights without expiry
	if (p.Path == "auth" || p.Path == "auth.token") && r.conn.principal().Device != "" {
		return protocol.ConfigSetResult{}, protocol.ErrForbidden.With("the gateway's own token is chosen at the gateway, and by no paired device")
	}
	if err := m.config.Set(ctx, p.Path, p.Value); err != nil {
		return protocol.ConfigSetResult{}, err
	}
	return protocol.ConfigSetResult{OK: true, Path: p.Path}, nil
}

// modelMethods are the methods for model providers.
type modelMethods struct{ models Models }

func (m modelMethods) register(all methods) {
	handle(all, protocol.ModelProviders, func(context.Context, *request, protocol.Empty) (protocol.ProvidersResult, error) {
		return protocol.ProvidersResult{Providers: list(m.models.Providers())}, nil
	})
	handle(all, protocol.ModelsList, func(ctx context.Context, _ *request, p protocol.ModelsListParams) (protocol.ModelsListResult, error) {
		if p.Provider == "" {
			return protocol.ModelsListResult{}, protocol.ErrBadRequest.With("provider required")
		}
		models, err := m.models.Models(ctx, p.Provider)
		return protocol.ModelsListResult{Models: list(models)}, err
	})
	handle(all, protocol.ModelsTest, func(ctx context.Context, _ *request, p protocol.ModelsTestParams) (protocol.ModelsTestResult, error) {
		return m.models.Test(ctx, p.Provider, p.Model), nil
	})
	handle(all, protocol.ModelsDetect, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.ModelsDetectResult, error) {
		return protocol.ModelsDetectResult{Servers: list(m.models.Detect(ctx))}, nil
	})
}
