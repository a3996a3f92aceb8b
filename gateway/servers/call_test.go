package servers

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/process"
	"fairlead/gateway/tool"
)

// A call that was certainly not sent is a failure. For any other loss, the outcome is unknown.
func TestLostCallSaysWhetherItWasSent(t *testing.T) {
	notReady := protocol.ErrUnavailable.With("the MCP server x is not connected")
	for _, c := range []struct {
		err    error
		want   string
		isSent bool
	}{
		{fmt.Errorf("%w: %w", process.ErrNotSent, notReady), "The call was not sent to the MCP server x: the MCP server x is not connected", false},
		{fmt.Errorf("%w: broken pipe", process.ErrNotSent), "The call was not sent to the MCP server x: its connection was lost", false},
		{mcp.ErrConnectionClosed, "The call was not sent to the MCP server x: its connection was lost", false},
		{io.EOF, "the connection to the MCP server x was lost: EOF", true},
	} {
		err := callError(t.Context(), "x", c.err)
		failure, isFailure := errors.AsType[*tool.Failure](err)
		if isFailure == c.isSent || err.Error() != c.want || !c.isSent && failure.Fault.Code != protocol.FaultTargetUnreachable {
			t.Errorf("%v: got %#v, want %q", c.err, err, c.want)
		}
	}
}
