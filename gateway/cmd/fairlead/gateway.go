package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead/gateway"
	"fairlead/node"
)

// quitLimit is how long an orderly stop may take.
const quitLimit = 5 * time.Second

func gatewayCommand(o *options) *cobra.Command {
	var listen string
	var withNode, verbose bool
	var flags nodeFlags
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Run the gateway, and with --node also a node on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name := nodeFlagSet(cmd); name != "" && !withNode {
				return usageError("--%s configures the node on this machine; add --node", name)
			}
			if err := checkListen(listen); err != nil {
				return err
			}
			opts, err := flags.parse()
			if err != nil {
				return err
			}
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
			home, err := o.homeDir()
			if err != nil {
				return err
			}
			local := localOptions{home: home, listen: listen, log: log}
			if withNode {
				local.node = &opts
			}
			return local.run(cmd.Context(), func(g *gateway.Gateway) {
				log.Info("Gateway ready", "url", g.URL(), "home", home, "secrets", g.SecretsAt())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", gateway.DefaultListen, "address to listen on")
	f.BoolVar(&withNode, "node", false, "also run a node on this machine")
	f.BoolVar(&verbose, "verbose", false, "log debug messages")
	flags.add(cmd, "node-id", false)
	return cmd
}

// checkListen returns an error for an invalid listen address.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil && address != "" && address != "none" {
		return usageError("--listen must be an address with a port, such as %s, or none, not %q", gateway.DefaultListen, address)
	}
	return nil
}

// nodeFlagSet returns the name of a given flag that only a node has, if there is one.
func nodeFlagSet(cmd *cobra.Command) (name string) {
	own := &cobra.Command{}
	new(nodeFlags).add(own, "node-id", false)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own.Flags().Lookup(f.Name) != nil {
			name = f.Name
		}
	})
	return name
}

// localOptions say which parts run in this process.
type localOptions struct {
	home, listen string
	log          *slog.Logger
	node         *node.Options // nil for none
}

// run runs a gateway, and a node on it, until ctx ends; it calls ready once both are running. They
// stop in order: node, gateway, store.
func (l localOptions) run(ctx context.Context, ready func(*gateway.Gateway)) error {
	slog.SetDefault(l.log)
	g, err := gateway.Open(ctx, gateway.Options{Home: l.home, Listen: l.listen, Logger: l.log})
	if err != nil {
		return err
	}
	gatewayCtx, stopGateway := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGateway()
	gatewayDone := make(chan error, 1)
	go func() { gatewayDone <- g.Run(gatewayCtx) }()

	nodeCtx, stopNode := context.WithCancel(ctx)
	defer stopNode()
	var nodeDone chan error // nil without a node
	if l.node != nil {
		opts := *l.node
		opts.Home, opts.Dial, opts.LogDir, opts.Logger = g.Home(), g.Dial, g.LogDir(), l.log
		n, err := node.New(opts)
		if err != nil {
			stopGateway()
			return errors.Join(err, <-gatewayDone)
		}
		nodeDone = make(chan error, 1)
		go func() { nodeDone <- n.Run(nodeCtx) }()
	}
	ready(g)
	var runErr error
	select {
	case <-ctx.Done():
	case runErr = <-gatewayDone:
		gatewayDone <- nil
	case runErr = <-nodeDone:
		nodeDone = nil
	}
	quit, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitLimit)
	defer cancel()
	g.StopRuns(quit)
	stopNode()
	if nodeDone != nil {
		<-nodeDone
	}
	stopGateway()
	<-gatewayDone
	if err := g.Close(); err != nil {
		runErr = errors.Join(runErr, err)
	}
	if errors.Is(runErr, context.Canceled) {
		return nil
	}
	return runErr
}
