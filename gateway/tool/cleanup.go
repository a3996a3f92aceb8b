package tool

import (
	"context"

	"fairlead/gateway/protocol"
)

// processTool is the tool of nodes with which commands are listed and ended.
const processTool = "Process"

// Cleanup ends what calls of programs have left on nodes. The gateway does that itself, or for the
// person, so no rule applies and the journal has no calls of it.
type Cleanup struct{ executor Executor }

// NewCleanup returns a Cleanup.
func NewCleanup(e Executor) Cleanup { return Cleanup{e} }

// EndCommand ends a command that a call of a program has left running on a node. An error
// of the tool means that it has ended before.
func (c Cleanup) EndCommand(ctx context.Context, node protocol.NodeID, tool, id string) error {
	name, args := processTool, any(map[string]string{"action": "kill", "sessionId": id})
	if tool == protocol.CommandTool {
		name, args = tool, map[string]any{"command_id": id, "signal": "SIGKILL", "idle_timeout": 0}
	}
	_, err := c.askNode(ctx, node, name, args)
	return err
}

// RunningCommands returns the IDs of the commands that run on a node in the background or for
// programs.
func (c Cleanup) RunningCommands(ctx context.Context, node protocol.NodeID) (ids []string, err error) {
	raw, err := c.askNode(ctx, node, processTool, map[string]string{"action": "list"})
	if err != nil {
		return nil, err
	}
	var list struct {
		Sessions []struct{ SessionID, Status string }
	}
	if err := protocol.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, s := range list.Sessions {
		if s.Status == "running" {
			ids = append(ids, s.SessionID)
		}
	}
	return ids, nil
}

// DropFile drops the parts that a program has collected on a node and not finished. An error of the
// tool means that there are none.
func (c Cleanup) DropFile(ctx context.Context, node protocol.NodeID, id string) error {
	_, err := c.askNode(ctx, node, "fs_write", map[string]any{"file_id": id, "abort": true})
	return err
}

// askNode calls a tool of a node.
func (c Cleanup) askNode(ctx context.Context, node protocol.NodeID, name string, args any) ([]byte, error) {
	raw, err := protocol.Marshal(args)
	if err != nil {
		return nil, err
	}
	return c.executor.Call(ctx, node, protocol.ToolInvoke{CallID: protocol.NewCallID(), Tool: name, Args: raw, Direct: true}, nil)
}
