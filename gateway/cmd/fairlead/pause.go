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
		Use: "resume", Args: cobra.NoArgs, Short: "Let a paused agent go on",
		Long: "Lets a paused agent go on. It pauses by itself when nothing can be stored: free space on the disk first.",
	}
	if paused {
		cmd.Use, cmd.Short, cmd.Long = "pause", "Pause the agent: what runs comes to the end of its step, and nothing new starts",
			"Pauses the agent: what runs comes to the end of its step, and nothing new starts. Background commands that were allowed before go on until they end by\n"+
				"themselves, Process ends them or their node stops. No other process of the agent runs on: whatever a command started ends with it."
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return with(o, cmd, protocol.AgentPause, protocol.PauseParams{Paused: paused}, func(out io.Writer, s protocol.Status) error {
			words := "The agent goes on."
			if s.Paused {
				words = "The agent is paused. It goes on with: fairlead resume"
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
		return "The agent is paused, because nothing can be stored: " + s.Storage + " When that is mended: fairlead resume"
	case s.Paused:
		return "The agent is paused, so your message waits. It goes on with: fairlead resume"
	}
	return ""
}
