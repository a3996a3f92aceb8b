package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway"
)

// options are the flags that every command has.
type options struct {
	url       string
	tokenFile string
	home      string
	json      bool
}

func newRoot() *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "fairlead",
		Short: "An AI agent for all your computers, with you in charge",
		Long: `Fairlead lets an AI agent work on your computers while you stay in charge: nothing is changed or run before you have seen and allowed
it. This is the command line; fairlead-desktop has the windows.

Environment
  FAIRLEAD_URL    address of the gateway (default ws://127.0.0.1:8787/ws)
  FAIRLEAD_TOKEN  token of the gateway (default: the one stored on this computer)
  FAIRLEAD_HOME   folder for all data

Exit codes
  0 success · 1 failure · 2 wrong usage · 3 the gateway or machine cannot be reached · 4 the token was refused
  5 denied or not answered · 6 a tool failed · 130 interrupted`,
		Version:       gateway.Version,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("token") {
			return &exitError{code: exitUsage, err: errors.New("--token is not accepted, because other programs can read command lines: use --token-file FILE or set FAIRLEAD_TOKEN")}
		}
		// status and doctor say where secrets are stored, so not every command does; gateway and
		// node have logs of their own.
		slog.SetDefault(slog.New(slog.DiscardHandler))
		if o.home != "" {
			os.Setenv("FAIRLEAD_HOME", o.home) // the keychain's entry names depend on it
		}
		return nil
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s\nTry: %s --help", plainFlag(err), cmd.CommandPath())}
	})
	root.SetOut(newOutput(os.Stdout))
	root.SetErr(newOutput(os.Stderr))
	f := root.PersistentFlags()
	f.StringVar(&o.url, "url", envOr("FAIRLEAD_URL", gateway.DefaultURL), "gateway: an address, or the name of a pairing")
	f.StringVar(&o.tokenFile, "token-file", "", "file that contains the token of the gateway; - reads standard input")
	f.String("token", "", "")
	f.Lookup("token").Hidden = true
	f.StringVar(&o.home, "home", "", "folder for all data (default FAIRLEAD_HOME, else the system's folder for user data)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	root.AddCommand(gatewayCommand(&o), nodeCommand(&o), chatCommand(&o), searchCommand(&o), toolsCommand(&o), modelsCommand(&o), configCommand(&o),
		tokenCommand(&o), skillsCommand(&o), channelsCommand(&o), statusCommand(&o), pauseCommand(&o, true), pauseCommand(&o, false), logsCommand(&o), doctorCommand(&o), journalCommand(&o), approvalsCommand(&o), auditCommand(&o), sendCommand(&o), transfersCommand(&o))
	root.AddCommand(sessionsCommand(&o), nodesCommand(&o), pairCommand(&o), networkCommand(&o))
	usageArgs(root)
	return root
}

// usageArgs makes wrong arguments of any command exit with the usage code, including unknown
// commands of a group, for which cobra only prints help.
func usageArgs(cmd *cobra.Command) {
	group := cmd.HasSubCommands()
	if group && !cmd.Runnable() {
		cmd.Args, cmd.DisableFlagsInUseLine = cobra.NoArgs, true
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			switch {
			case err == nil:
				return nil
			case group && len(args) > 0:
				return &exitError{code: exitUsage, err: unknown(cmd, args[0])}
			}
			return &exitError{code: exitUsage, err: fmt.Errorf("%w\nUsage: %s", err, cmd.UseLine())}
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}

// plainFlag describes the error of a flag, without the words of the libraries that parse numbers
// and times.
func plainFlag(err error) string {
	text, _, isNumber := strings.Cut(err.Error(), ": strconv.")
	if isNumber {
		return text + ": must be a number"
	}
	if text, _, isTime := strings.Cut(err.Error(), ": time: "); isTime {
		return text + ": must be a duration such as 24h or 90m"
	}
	if _, name, short := strings.Cut(text, " in -"); short && len(name) > 1 {
		return text + "; long flags start with two dashes: --" + name
	}
	return text
}

func unknown(cmd *cobra.Command, name string) error {
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = ". Did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%s has no command %q%s\nTry: %s --help", cmd.CommandPath(), name, hint, cmd.CommandPath())
}

func (o *options) homeDir() (string, error) {
	if o.home != "" {
		return filepath.Abs(o.home)
	}
	return gateway.Home()
}

func envOr(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}
