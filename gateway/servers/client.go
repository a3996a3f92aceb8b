package servers

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	return mcp.NewClient(&mcp.Implementation{Name: "fairlead", Title: "Fairlead", Version: s.m.o.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{ // neither roots nor sampling
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler:          s.elicit,
		ElicitationCompleteHandler:  func(context.Context, *mcp.ElicitationCompleteNotificationRequest) {},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.readLater(s.refresh) },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { s.readLater(s.countItems) },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { s.readLater(s.countItems) },
		ProgressNotificationHandler: s.progress,
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			s.log.addf("%s: %v", r.Params.Level, r.Params.Data)
		},
	})
}

// readLater reads a list again after a notification: handlers of notifications must not wait for
// answers of the same connection.
func (s *server) readLater(read func(context.Context) error) {
	s.work.Go(func() {
		if err := read(s.stopped); err != nil {
			s.log.addf("Reading a list failed: %v", err)
		}
		s.m.publish()
	})
}
