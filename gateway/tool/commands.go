package tool

import (
	"context"

	"fairlead/gateway/protocol"
)

// processTool is the tool of nodes with which commands are listed and ended.
const processTool = "Process"

// EndCommand ends a command that a call of a program has left running on a node. It is what the person
// or the gateway itself wants, so no rule applies. An error of the tool means that it has ended before.
func (p *Pipeline) EndCommand(ctx context.Context, node protocol.NodeID, tool, id string) error {
	name, args := processTool, any(map[string]string{"action": "kill", "sessionId": id})
	if tool == protocol.CommandTool {
		name, args = tool, map[string]any{"command_id": id, "signal": "SIGKILL", "idle_timeout": 0}
	}
	_, err := p.askNode(ctx, node, name, args)
	return err
}

// RunningCommands returns the IDs of the commands that run on a node in the background or for
// programs.
func (p *Pipeline) RunningCommands(ctx context.Context, node protocol.NodeID) (ids []string, err error) {
	raw, err := p.askNode(ctx, node, processTool, map[string]string{"action": "list"})
	if err != nil {
		return nil, err
	}
	var list struct {
		Sessions []struct{ SessionID, Status string }
	}
	if err := protocol.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, c := range list.Sessions {
		if c.Status == "running" {
			ids = append(ids, c.SessionID)
		}
	}
	return ids, nil
}

// askNode calls a tool of a node for the gateway itself.
func (p *Pipeline) askNode(ctx context.Context, node protocol.NodeID, name string, args any) ([]byte, error) {
	raw, err := protocol.Marshal(args)
	if err != nil {
		return nil, err
	}
	return p.Executor.Call(ctx, node, protocol.ToolInvoke{CallID: protocol.NewCallID(), Tool: name, Args: raw, Direct: true}, nil)
}
