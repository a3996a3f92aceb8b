package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

func localModelsCommand(o *options) *cobra.Command {
	cmd := command("local", "List models that the gateway's computer can run", cobra.NoArgs,
		onMethod(o, protocol.ModelsLocal, nil, printLocalModels))
	cmd.Long = `Lists models that the gateway's computer can run by itself, with the memory that they need, and the programs that run them. Ollama and
LM Studio run on their own; llama-server is started by the gateway.`
	cmd.Example = "  fairlead models pull qwen3-4b\n  fairlead config set localModels.serve qwen3-4b"
	return cmd
}

func printLocalModels(out io.Writer, r protocol.LocalModelsResult) error {
	for _, p := range r.Programs {
		fmt.Fprintln(out, display.LocalProgram(p, r.System))
	}
	if s := r.Server; s != nil {
		fmt.Fprintln(out, flat(display.LocalServer(*s)))
	}
	if r.Memory > 0 {
		fmt.Fprintf(out, "This computer has %s of memory.\n", format.Size(r.Memory))
	}
	fmt.Fprintln(out)
	var t table
	for _, m := range r.Models {
		have := ""
		switch {
		case m.InOllama && m.HasFile:
			have = "in Ollama, and as a file"
		case m.InOllama:
			have = "in Ollama"
		case m.HasFile:
			have = "as a file"
		case !m.Fits:
			have = "too large for this computer"
		}
		t.row(m.ID, "needs "+format.Size(m.Memory), m.Use, have)
	}
	return t.print(out, "There are no models.")
}

func pullCommand(o *options) *cobra.Command {
	provider := ""
	cmd := command("pull MODEL", "Download a model to the gateway's computer", cobra.ExactArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			p := protocol.ModelPullParams{Provider: provider, Model: args[0]}
			if p.Provider == "" {
				r, err := call(ctx, c, protocol.ModelsLocal, protocol.Empty{})
				if err != nil {
					return err
				}
				p.Provider = puller(r)
			}
			return c.pull(ctx, p)
		}))
	cmd.Long = `Downloads a model of the list of "fairlead models local" and shows the progress. Ctrl+C stops the download; the same command resumes it.
Without --for, Ollama gets it if it is running; otherwise it is a file for llama-server.`
	cmd.Flags().StringVar(&provider, "for", "", "program that gets the model: ollama or llamacpp")
	return cmd
}

// puller returns the provider that gets a model: Ollama if it is running.
func puller(r protocol.LocalModelsResult) string {
	if slices.ContainsFunc(r.Programs, func(p protocol.LocalProgram) bool { return p.Provider == "ollama" && p.Running }) {
		return "ollama"
	}
	return "llamacpp"
}

// pull starts a download and follows it to its end.
func (c *connection) pull(ctx context.Context, p protocol.ModelPullParams) error {
	b := &bar{out: c.out, plain: c.json || !isTerminal(c.out)}
	end, err := c.followPull(ctx, p, func(now protocol.ModelPull) { b.print(sizeText(now.Done, now.Total)) })
	b.end()
	switch {
	case ctx.Err() != nil:
		_, err = call(context.WithoutCancel(ctx), c, protocol.ModelsPullStop, p)
		fmt.Fprintf(c.err, "Stopped. To resume the download: fairlead models pull %s\n", p.Model)
		return errors.Join(ctx.Err(), err)
	case err != nil:
		return err
	case end.State != protocol.PullDone:
		return fmt.Errorf("the download %s: %s", end.State, flat(end.Error))
	case c.json:
		return printJSON(c.out, end)
	}
	_, err = fmt.Fprintf(c.out, "%s is there.\n", p.Model)
	return err
}

// followPull starts a download, calls show for its progress, and returns it when it has ended.
func (c *connection) followPull(ctx context.Context, p protocol.ModelPullParams, show func(protocol.ModelPull)) (protocol.ModelPull, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan protocol.ModelPull, 1)
	failed := make(chan error, 1)
	start := func(protocol.FeedSnapshot) {
		if _, err := call(ctx, c, protocol.ModelsPull, p); err != nil {
			failed <- err
			stop()
		}
	}
	feedDone := crash.Result(func() error {
		return c.Feed(ctx, start, func(ch protocol.Change) {
			if ch.Kind != protocol.ChangePull || ch.Pull.Model != p.Model {
				return
			}
			show(*ch.Pull)
			if ch.Pull.State != protocol.PullRunning {
				select {
				case ended <- *ch.Pull:
				default:
				}
			}
		})
	})
	end, err := await(ended, feedDone, stop)
	if err != nil {
		select {
		case err = <-failed:
		default:
		}
	}
	return end, err
}
