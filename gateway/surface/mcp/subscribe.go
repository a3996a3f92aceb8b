package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// ackLimit is the time limit for the acknowledgement of a subscription. The person may be asked
// before.
const ackLimit = 2 * time.Minute

// subscribe passes a subscription on. Like the gateway, it refuses what is neither listed nor a file.
func (r *relay) subscribe(ctx context.Context, uri string) error {
	r.listing.Lock()
	listed := r.contents[uri] != ""
	r.listing.Unlock()
	if _, _, isFile := parseFileURI(uri); !listed && !isFile {
		return mcp.ResourceNotFoundError(uri)
	}
	r.mu.Lock()
	session, isWatched := r.current.ClientSession, r.watched[uri]
	r.mu.Unlock()
	if isWatched {
		return nil
	}
	if err := r.watch(ctx, session, uri); err != nil {
		return err // it is not subscribed again after a lost connection
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched[uri] = true
	return nil
}

func (r *relay) unsubscribe(ctx context.Context, uri string) error {
	r.mu.Lock()
	delete(r.watched, uri)
	r.mu.Unlock()
	return r.gateway().Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
}

// watch subscribes to a resource at the gateway and waits for the acknowledgement, which the SDK
// does not wait for in the newest version: it shows whether the gateway refuses the resource. It is
// without the address then, so that one subscription at a time may wait.
func (r *relay) watch(ctx context.Context, session *mcp.ClientSession, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, ackLimit)
	defer cancel()
	select {
	case r.subscribing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.subscribing }()
	select {
	case <-r.acknowledged: // of a subscription that has been given up
	default:
	}
	if err := session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err != nil || session.InitializeResult().ProtocolVersion < firstModern {
		return err
	}
	err := error(protocol.NewFault(protocol.FaultPermissionDenied, fmt.Sprintf("%s cannot be watched: it does not exist, or you may not read it. fs_stat says why", uri)))
	select {
	case accepted := <-r.acknowledged:
		if slices.Contains(accepted, uri) {
			return nil
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	session.Unsubscribe(context.WithoutCancel(ctx), &mcp.UnsubscribeParams{URI: uri})
	return err
}

// passAcknowledgements passes the acknowledgements of subscriptions to resources to watch.
func (r *relay) passAcknowledgements(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, q mcp.Request) (mcp.Result, error) {
		if p, ok := q.GetParams().(*mcp.SubscriptionsAcknowledgedParams); ok {
			if n := p.Notifications; !n.ToolsListChanged && !n.PromptsListChanged && !n.ResourcesListChanged {
				select {
				case r.acknowledged <- n.ResourceSubscriptions:
				default:
				}
			}
		}
		return next(ctx, method, q)
	}
}
