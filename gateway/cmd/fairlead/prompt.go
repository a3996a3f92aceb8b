package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// readMessage reads one line with editing and history. A line that ends in \ goes on in the next. When ctx ends first, the reading goroutine
// stays until the program ends: a read of a terminal cannot be taken back.
func (t *terminal) readMessage(ctx context.Context, prompt string) (string, error) {
	old, err := term.MakeRaw(t.in.fd)
	if err != nil {
		return "", fmt.Errorf("set up the terminal: %w", err)
	}
	defer term.Restore(t.in.fd, old)
	if t.editor == nil {
		t.editor = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{t.in, os.Stdout}, "")
	}
	if w, h, err := term.GetSize(t.in.fd); err == nil && w > 0 {
		t.editor.SetSize(w, h)
	}
	if i := strings.LastIndexByte(prompt, '\n'); i >= 0 {
		io.WriteString(t.editor, prompt[:i+1])
		prompt = prompt[i+1:]
	}
	t.editor.SetPrompt(prompt)
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := readLines(t.editor)
		done <- read{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLines reads a line, and those after it while they end in \.
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
