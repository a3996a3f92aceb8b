package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// heartbeatSetting is the path of the heartbeat's interval.
const heartbeatSetting = "agents.defaultHeartbeat.every"

func heartbeatCommand(o *options) *cobra.Command {
	cmd := command("heartbeat [on|off|INTERVAL]", "Show the heartbeat, or switch it on or off", cobra.MaximumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			if len(args) > 0 {
				every := args[0]
				switch every {
				case "on":
					every = "30m"
				case "off":
					every = "0m"
				}
				value, err := protocol.Marshal(every)
				if err != nil {
					return err
				}
				if _, err := call(ctx, c, protocol.ConfigSet, protocol.ConfigSetParams{Path: heartbeatSetting, Value: value}); err != nil {
					return err
				}
			}
			return showCall(ctx, c, protocol.HeartbeatStatus, protocol.Empty{}, printHeartbeat)
		}))
	cmd.Long = `Shows or changes the heartbeat: at an interval, the agent checks HEARTBEAT.md for things to do. It is off until you switch it on, because each
check asks the model. While HEARTBEAT.md is empty, the model is not asked.`
	cmd.Example = "  fairlead schedules heartbeat on\n  fairlead schedules heartbeat '2 hours'"
	return cmd
}

func printHeartbeat(out io.Writer, r protocol.HeartbeatStatusResult) error {
	h := r.Agents[protocol.MainAgent]
	text := "Off."
	if h.NextHeartbeatAt != nil {
		text = "On. Next: " + repeat.When(*h.NextHeartbeatAt, time.Now()) + "."
	}
	switch {
	case h.Runs > 0 && h.Usage != nil:
		text += fmt.Sprintf(" The last %s used %d tokens each", format.Plural(h.Runs, "check"), h.Usage.Total/int64(h.Runs))
		if h.Usage.Cost != nil && *h.Usage.Cost > 0 {
			text += fmt.Sprintf(" ($%.3f)", *h.Usage.Cost/float64(h.Runs))
		}
		text += "."
	case h.EstimatedTokens > 0:
		text += fmt.Sprintf(" A check uses about %d tokens (an estimate).", h.EstimatedTokens)
	}
	return printf(out, "%s\n", text)
}
