package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"fairlead/node/setup"
)

// errInterrupt is Ctrl+C on the line that is being read. It is also an io.EOF, because the editor
// does not distinguish it from Ctrl+D.
var errInterrupt = fmt.Errorf("interrupted: %w", io.EOF)

// keys reads the person's input. It records whether its last byte was Ctrl+C, because a terminal in
// raw mode does not turn that into a signal.
type keys struct {
	io.Reader
	interrupt bool
}

func (k *keys) Read(b []byte) (int, error) {
	n, err := k.Reader.Read(b)
	k.interrupt = bytes.IndexByte(b[:n], ctrlC) >= 0
	return n, err
}

const ctrlC = 3

// readMessage reads one line with editing and history, and more after \. Ctrl+C is errInterrupt.
func (t *terminal) readMessage(ctx context.Context, prompt string) (string, error) {
	old, err := term.MakeRaw(t.in.fd)
	if err != nil {
		return "", fmt.Errorf("set up the terminal: %w", err)
	}
	defer term.Restore(t.in.fd, old)
	if t.editor == nil {
		t.keys.Reader = t.in
		t.editor = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{&t.keys, os.Stdout}, "")
	}
	if w, h, err := term.GetSize(t.in.fd); err == nil && w > 0 {
		t.editor.SetSize(w, h)
	}
	prompt = clean(prompt) // the editor writes to the terminal directly
	if i := strings.LastIndexByte(prompt, '\n'); i >= 0 {
		io.WriteString(t.editor, prompt[:i+1])
		prompt = prompt[i+1:]
	}
	t.editor.SetPrompt(prompt)
	return setup.Await(ctx, nil, func() (string, error) {
		line, err := readLines(t.editor)
		if errors.Is(err, io.EOF) && t.keys.interrupt {
			err = errInterrupt
		}
		return line, err
	})
}

// readLines reads a line, and further lines while they end in \.
func readLines(editor *term.Terminal) (string, error) {
	var whole strings.Builder
	for {
		line, err := editor.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return "", err
		}
		rest, more := strings.CutSuffix(line, `\`)
		whole.WriteString(rest)
		if !more {
			return whole.String(), nil
		}
		whole.WriteByte('\n')
		editor.SetPrompt("… ")
	}
}
