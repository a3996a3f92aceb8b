package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func networkCommand(o *options) *cobra.Command {
	var listen string
	on := command("on", "Let paired devices on other machines reach the gateway", cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
			if listen != "" {
				if err := changeSetting(ctx, c, "network.listen", listen); err != nil {
					return err
				}
			}
			if err := changeSetting(ctx, c, "network.enabled", true); err != nil {
				return err
			}
			if err := waitForNetwork(ctx, c); err != nil {
				return err
			}
			return printNetwork(ctx, c, nil)
		}))
	on.Flags().StringVar(&listen, "listen", "", "address to listen on, `HOST:PORT` (default :8788, all interfaces)")
	off := o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
		return changeSetting(ctx, c, "network.enabled", false)
	})
	discovery := func(cmd *cobra.Command, args []string) error {
		if args[0] != "on" && args[0] != "off" {
			return usageError("the argument must be on or off, not %q", args[0])
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			return changeSetting(ctx, c, "network.discovery", args[0] == "on")
		})
	}
	cmd := command("network", "Show or change whether other machines can reach this gateway", cobra.NoArgs, o.onGateway(printNetwork))
	cmd.AddCommand(on, command("off", "Close the gateway to other machines", cobra.NoArgs, off),
		command("discovery on|off", "Make this gateway visible on the local network, or hide it", cobra.ExactArgs(1), discovery))
	return cmd
}

// waitForNetwork waits until the gateway listens, for at most dialLimit.
func waitForNetwork(ctx context.Context, c *connection) error {
	for end := time.Now().Add(dialLimit); time.Now().Before(end); time.Sleep(pollInterval / 10) {
		r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
		if err != nil {
			return err
		}
		if r.Network.Problem != "" {
			return protocol.ErrUnavailable.With(r.Network.Problem)
		}
		if r.Network.Listening {
			return nil
		}
	}
	return nil
}

func printNetwork(ctx context.Context, c *connection, _ []string) error {
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	return show(c, r.Network, err, func(out io.Writer, n protocol.NetworkStatus) (err error) {
		switch {
		case !n.Enabled:
			_, err = fmt.Fprintln(out, "off: only programs on this machine can reach the gateway")
		case n.Problem != "":
			_, err = fmt.Fprintf(out, "on, but not listening: %s\n", n.Problem)
		default:
			_, err = fmt.Fprintf(out, "on: paired devices can reach the gateway at %s\nkey: %s (%s)\nvisible on the local network: %s\n",
				strings.Join(n.Addresses, ", "), strings.Join(n.Words, " "), n.Pin, map[bool]string{true: "yes", false: "no"}[n.Discovery])
		}
		return err
	})
}

func changeSetting(ctx context.Context, c *connection, path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the setting: %w", err)
	}
	_, err = call(ctx, c, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	return err
}
