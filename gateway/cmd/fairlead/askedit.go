package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"fairlead/gateway/protocol"
)

// editCall lets the person change the call: a command in one line, other arguments in their editor.
func (ch *chat) editCall(ctx context.Context, a protocol.Approval) (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if json.Unmarshal(a.Args, &args) != nil {
		return nil, errors.New("these arguments cannot be edited")
	}
	if _, command := args["command"]; command && a.Effect == protocol.EffectExec {
		line, err := ch.term.readMessage(ctx, "Command to run instead: ")
		if errors.Is(err, errInterrupt) {
			return nil, err
		}
		if err != nil || strings.TrimSpace(line) == "" {
			return nil, errors.New("nothing was changed")
		}
		raw, err := protocol.Marshal(line)
		if err != nil {
			return nil, err
		}
		args["command"] = raw
		return protocol.Marshal(args)
	}
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		return nil, errors.New("set EDITOR to edit the arguments, or change the call in a Fairlead window")
	}
	file, err := os.CreateTemp("", "fairlead-*.json")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	defer os.Remove(file.Name())
	text, err := json.MarshalIndent(args, "", "  ")
	if err == nil {
		_, err = file.Write(text)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	cmd := exec.Command(words[0], append(words[1:], file.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor failed: %w", err)
	}
	changed, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, fmt.Errorf("read the edited file: %w", err)
	}
	if !json.Valid(changed) {
		return nil, errors.New("this is not valid JSON; nothing was changed")
	}
	return changed, nil
}
