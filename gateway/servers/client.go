package servers

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// closeLimit is how long a server may take to answer the end of the connection.
const closeLimit = 2 * time.Second

// closeWithin closes a session. When the server does not answer, its connection is broken.
func closeWithin(session *mcp.ClientSession, t *transport) {
	limit := crash.AfterFunc(closeLimit, t.end)
	defer limit.Stop()
	session.Close()
}

// client makes a client for one connection.
func (s *server) client() *mcp.Client {
	c := mcp.NewClient(&mcp.Implementation{Name: "fairlead", Title: "Fairlead", Version: s.m.o.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{ // neither roots nor sampling
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler:          s.elicit,
		ElicitationCompleteHandler:  func(context.Context, *mcp.ElicitationCompleteNotificationRequest) {},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.stale.mark(true, false) },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { s.stale.mark(false, true) },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { s.stale.mark(false, true) },
		ProgressNotificationHandler: s.calls.progress,
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			s.log.addf("%s: %v", r.Params.Level, r.Params.Data)
		},
	})
	c.AddReceivingMiddleware(recoverPanics(s.name))
	return c
}

// recoverPanics turns a panic about a message of a server into an error of that message.
func recoverPanics(name protocol.ServerName) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (res mcp.Result, err error) {
			defer crash.Recover(&err, method, "server", name)
			return next(ctx, method, r)
		}
	}
}
