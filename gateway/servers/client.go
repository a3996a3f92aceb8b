package servers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// closeLimit is how long a server may take to answer the end of the connection.
const closeLimit = 2 * time.Second

// closeWithin closes a session. When the server does not answer, its connection is broken.
func closeWithin(session *mcp.ClientSession, t *transport) {
	limit := time.AfterFunc(closeLimit, t.end)
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
		ProgressNotificationHandler: s.progress,
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

// silenceLimit is the time after which the state of a server says that it has not answered yet.
const silenceLimit = 10 * time.Second

// noteSilence says in the state, after a time, that the server has not answered yet, and what it wrote.
// The caller calls settled when it has, or does not start.
func (s *server) noteSilence(ctx context.Context, t *transport) (settled func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for waited, pause := time.Duration(0), silenceLimit; ; pause = waited {
			waitFor(ctx, pause, nil)
			waited += pause
			if ctx.Err() != nil {
				return
			}
			if s.isStarting() { // rather than waiting for a sign-in
				s.setState(protocol.ServerStarting, fmt.Errorf("it has not answered for %s%s", waited, t.wrote()))
			}
		}
	})
	return func() {
		cancel()
		watch.Wait()
	}
}

func (s *server) isStarting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == protocol.ServerStarting
}
