// Command fairlead is Fairlead without windows: the gateway, the node on this machine, a chat in
// the terminal, and the commands that a person or a script needs to manage them.
//
// Exit codes: 0 success; 1 failure; 2 wrong usage; 3 the gateway, or the requested machine, cannot
// be reached; 4 the token was refused; 5 a call or run was denied, or nobody answered; 6 a tool
// reported a failure; 130 interrupted.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// Exit codes. They are part of the command's interface.
const (
	exitOK           = 0
	exitFailed       = 1
	exitUsage        = 2
	exitUnreachable  = 3
	exitUnauthorized = 4
	exitDenied       = 5
	exitTool         = 6
	exitInterrupted  = 130
)

// exitError has an exit code; printed says that its text has been printed already.
type exitError struct {
	code    int
	err     error
	printed bool
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func main() {
	sandbox.Main()
	keychain.ProtectProcess()
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	err := root.ExecuteContext(ctx)
	if o, ok := root.OutOrStdout().(*output); ok {
		if closeErr := o.close(); err == nil {
			err = closeErr
		}
	}
	code := exitCode(err, ctx.Err() != nil)
	var exit *exitError
	if err != nil && code != exitInterrupted && !(errors.As(err, &exit) && exit.printed) {
		fmt.Fprintf(root.ErrOrStderr(), "fairlead: %v\n", err)
	}
	return code
}

// exitCode converts errors to exit codes. It is the only place that does so.
func exitCode(err error, interrupted bool) int {
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case interrupted && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, protocol.ErrUnauthorized):
		return exitUnauthorized
	case errors.Is(err, protocol.ErrUnavailable):
		return exitUnreachable
	case errors.Is(err, protocol.ErrApprovalNeeded):
		return exitDenied
	}
	return exitFailed
}

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
		Version:       gateway.VersionText(),
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("token") {
			return usageError("--token is not accepted, because other programs can read command lines: use --token-file FILE or set FAIRLEAD_TOKEN")
		}
		// Only status and doctor print where secrets are; gateway and node have their own logs.
		slog.SetDefault(slog.New(slog.DiscardHandler))
		if o.home != "" {
			os.Setenv("FAIRLEAD_HOME", o.home) // the keychain's entry names depend on it
		}
		return nil
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%s\nTry: %s --help", plainFlag(err), cmd.CommandPath())
	})
	root.SetOut(newOutput(os.Stdout))
	root.SetErr(newOutput(os.Stderr))
	f := root.PersistentFlags()
	f.StringVar(&o.url, "url", cmp.Or(os.Getenv("FAIRLEAD_URL"), gateway.DefaultURL), "gateway: an address, or the name of a pairing")
	f.StringVar(&o.tokenFile, "token-file", "", "file that contains the token of the gateway; - reads standard input")
	f.String("token", "", "")
	f.Lookup("token").Hidden = true
	f.StringVar(&o.home, "home", "", "folder for all data (default FAIRLEAD_HOME, else the system's folder for user data)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	root.AddCommand(gatewayCommand(&o), nodeCommand(&o), chatCommand(&o), searchCommand(&o), toolsCommand(&o), modelsCommand(&o), configCommand(&o),
		tokenCommand(&o), skillsCommand(&o), channelsCommand(&o), statusCommand(&o), pauseCommand(&o, true), pauseCommand(&o, false), logsCommand(&o, "logs"),
		doctorCommand(&o), usageCommand(&o), journalCommand(&o), approvalsCommand(&o), questionsCommand(&o), auditCommand(&o), sendCommand(&o), transfersCommand(&o), schedulesCommand(&o))
	root.AddCommand(sessionsCommand(&o), nodesCommand(&o), pairCommand(&o), networkCommand(&o), tokensCommand(&o), approveCommand(&o), callCommand(&o), mcpCommand(&o), serversCommand(&o),
		servicesCommand(&o), networksCommand(&o), forwardCommand(&o), terminalCommand(&o), exposureCommand(&o), provisionCommand(&o), providersCommand(&o))
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
			return usageError("%s\nUsage: %s", plainCount(cmd, err), cmd.UseLine())
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}

// plainCount describes the error of a number of arguments.
func plainCount(cmd *cobra.Command, err error) string {
	text := strings.ReplaceAll(err.Error(), "arg(s)", "arguments")
	if strings.HasPrefix(text, "unknown command") { // the library's text for one that takes none
		return cmd.CommandPath() + " takes no arguments"
	}
	return cmd.CommandPath() + " " + strings.ReplaceAll(text, " 1 arguments", " 1 argument")
}

// plainFlag describes the error of a flag, without the words of the libraries that parse it.
func plainFlag(err error) string {
	text, function, isValue := strings.Cut(err.Error(), ": strconv.")
	switch {
	case strings.HasPrefix(function, "ParseBool"):
		return text + ": must be true or false"
	case isValue:
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
