package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// pauseCommand makes the command pause or resume, which does the same as "Pause agent" of the tray.
func pauseCommand(o *options, paused bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume", Args: cobra.NoArgs, Short: "Resume the paused agent",
		Long: "Resumes the paused agent. If the agent paused because messages cannot be saved, free up disk space first.",
	}
	if paused {
		cmd.Use, cmd.Short, cmd.Long = "pause", "Pause the agent after its current step",
			"Pauses the agent: the current step finishes, and nothing new starts. Background commands that were already allowed keep running until they finish,\n"+
				"the Process tool stops them, or their node stops. All other processes end with the command that started them."
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return with(o, cmd, protocol.AgentPause, protocol.PauseParams{Paused: paused}, func(out io.Writer, s protocol.Status) error {
			words := "The agent is running."
			if s.Paused {
				words = "The agent is paused. To resume it: fairlead resume"
			}
			_, err := fmt.Fprintln(out, words)
			return err
		})
	}
	return cmd
}

// pausedWords says that a message waits because the agent is paused; empty when it is not.
func pausedWords(s protocol.Status) string {
	switch {
	case s.Storage != "":
		return "The agent is paused because messages cannot be saved: " + s.Storage + " When this is fixed: fairlead resume"
	case s.Paused:
		return "The agent is paused, so your message is waiting. To resume: fairlead resume"
	}
	return ""
}
