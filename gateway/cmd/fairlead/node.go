package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/setup"
)

// nodeFlags are the flags for a node's identity and restrictions.
type nodeFlags struct{ setup.Flags }

// line returns the command that starts the node with the flags given to cmd. Its folders are
// absolute, so that it works in every folder.
func (n *nodeFlags) line(cmd *cobra.Command) string {
	words := []string{"fairlead", "node"}
	if dir, err := filepath.Abs(n.Workspace); err == nil {
		words = append(words, "--workspace", quoteWord(dir))
	}
	return strings.Join(append(words, n.arguments(cmd, true, "workspace")...), " ")
}

// arguments returns the node's flags that were given to cmd, except the flag but, quoted for a
// shell. With here, its folders belong to this machine and are made absolute.
func (n *nodeFlags) arguments(cmd *cobra.Command, here bool, but string) (words []string) {
	own := nodeFlagSet("id", true)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case own.Lookup(f.Name) == nil || f.Name == but:
		case f.Name == "grant":
			for _, folder := range n.Grants {
				dir, readOnly := strings.CutSuffix(folder, ":ro")
				if whole, err := filepath.Abs(dir); err == nil && here {
					folder = whole + map[bool]string{true: ":ro"}[readOnly]
				}
				words = append(words, "--grant", quoteWord(folder))
			}
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, quoteWord(f.Value.String()))
		}
	})
	return words
}

// nodeFlagSet returns the flags of a node.
func nodeFlagSet(id string, own bool) *pflag.FlagSet {
	set := pflag.NewFlagSet("node", pflag.ContinueOnError)
	new(setup.Flags).Add(set, id, own)
	return set
}

// plainWord matches words that need no quotes in any shell.
var plainWord = regexp.MustCompile(`^[\w./:@%+=,~-]+$`)

// quoteWord returns a word quoted for a shell.
func quoteWord(word string) string {
	if plainWord.MatchString(word) || runtime.GOOS == "windows" && !strings.ContainsAny(word, " \t\"&|<>^()") && word != "" {
		return word
	}
	if runtime.GOOS == "windows" {
		return `"` + word + `"`
	}
	return singleQuoted(word)
}

// singleQuoted quotes a word for every shell: in some, a backslash before a quote has a meaning.
func singleQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'" }

// parse returns the options of the node without its gateway and data folder.
func (n *nodeFlags) parse() (node.Options, error) {
	opts, err := n.Options(gateway.Version, os.Stderr)
	if err != nil {
		return opts, usageError("%w", err)
	}
	return opts, nil
}

// options returns the options of a node in this process, without the route to its gateway.
func (n *nodeFlags) options(o *options) (node.Options, error) {
	opts, err := n.parse()
	if err != nil {
		return opts, err
	}
	if opts.Home, err = o.homeDir(); err != nil {
		return opts, err
	}
	// Where a pairing's keys are stored is logged like everything else.
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	opts.LogDir, opts.Logger = gateway.LogDir(opts.Home), slog.Default()
	return opts, nil
}

func nodeCommand(o *options) *cobra.Command {
	var to string
	var flags nodeFlags
	cmd := &cobra.Command{
		Use:   "node [--gateway URL | --gateway NAME]",
		Short: "Run a node on this machine and connect it to a gateway",
		Long: `Runs a node on this machine. It connects to the gateway that this machine is paired with (fairlead pair), or to --gateway: a pairing's name, or
an address with a token in FAIRLEAD_TOKEN.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, err := flags.options(o)
			if err != nil {
				return err
			}
			release, err := o.setGateway(cmd.Context(), &opts, to, cmd.Flags().Changed("id"))
			if err != nil {
				return err
			}
			defer release()
			n, err := node.New(opts)
			if err != nil {
				return err
			}
			if err := n.Run(cmd.Context()); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("node %s: %w", opts.ID, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "gateway", os.Getenv("FAIRLEAD_URL"), "gateway: an address, or the name of a pairing")
	flags.Add(cmd.Flags(), "id", true)
	cmd.AddCommand(nodeAllowCommand(o))
	return cmd
}

func nodeAllowCommand(o *options) *cobra.Command {
	var remove bool
	cmd := command("allow [HOST:PORT]", "Let the gateway reach a port of another computer from this machine", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		home, err := o.homeDir()
		if err != nil {
			return err
		}
		target := ""
		if len(args) > 0 {
			target = args[0]
		} else if remove {
			return usageError("--remove needs the HOST:PORT")
		}
		return setup.Allow(home, target, remove, cmd.OutOrStdout())
	})
	cmd.Long = `Lets forwards and services reach HOST:PORT through this machine. Without it, they reach only ports of the machine itself. Without
HOST:PORT, lists what was allowed. Takes effect at once, and is stored on this machine only.`
	cmd.Flags().BoolVar(&remove, "remove", false, "allow it no longer; open connections go on")
	return cmd
}

// setGateway sets how a node connects to its gateway. Until release is called, no other program on
// this computer can be a node of the same paired gateway. release is nil only with an error.
func (o *options) setGateway(ctx context.Context, opts *node.Options, to string, hasID bool) (release func(), err error) {
	release = func() {}
	if strings.Contains(to, "://") {
		if err := client.CheckURL(to); err != nil {
			return release, usageError("%w", err)
		}
		opts.URL = to
		opts.Token, err = o.findToken()
		return release, err
	}
	id, peers, err := o.identity()
	if err != nil {
		return release, err
	}
	peer, err := setup.FindGateway(ctx, id, peers, to)
	if errors.Is(err, protocol.ErrNotFound) && to == "" {
		opts.URL = gateway.DefaultURL
		opts.Token, err = o.findToken()
		return release, err
	}
	if err != nil {
		return release, err
	}
	return setup.Connect(opts, id, peers, peer, hasID, "fairlead node")
}
