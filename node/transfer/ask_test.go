package transfer

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/gateway/protocol"
	"fairlead/node/prompt"
)

func TestTerminalAsksThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		var out strings.Builder
		p := Policy{Mode: Ask, Ask: AskAt(prompt.New(in, &out))}
		r := protocol.TransferReceive{Path: "in/\x1b[2J", Size: 3 << 19, Stream: &protocol.TransferStream{From: "laptop"}}
		ask := func(ctx context.Context, types ...string) error {
			answer := make(chan error, 1)
			go func() { answer <- p.Consent(ctx, r) }()
			synctest.Wait()
			for _, s := range types {
				io.WriteString(keys, s)
				synctest.Wait()
			}
			return <-answer
		}
		if err := ask(t.Context(), "y\n"); err != nil {
			t.Error(err)
		}
		if got := out.String(); got != `"laptop" sends 1.6 MB to "in/\x1b[2J". Accept? [y/N] ` {
			t.Errorf("got question %s, want the sender, the size and the name with escapes", got)
		}
		io.WriteString(keys, "y\n") // to nothing
		synctest.Wait()
		for _, no := range []string{"\n", "n\n", "yesterday\n"} {
			if err := ask(t.Context(), no); err == nil || !strings.Contains(err.Error(), "declined the transfer") {
				t.Errorf(`%q: got %v; want an error with "declined the transfer"`, no, err)
			}
		}
		gone, cancel := context.WithCancelCause(t.Context())
		withdrawn := errors.New("cancelled at the other end")
		cancel(withdrawn)
		if err := ask(gone); !errors.Is(err, withdrawn) {
			t.Errorf("withdrawn: got %v, want error %v", err, withdrawn)
		}
		keys.Close()
		if err := ask(t.Context()); !errors.Is(err, errCannotAsk) {
			t.Errorf("after the terminal is gone: %v", err)
		}
	})
}
