package stream

import "context"

// earlyStart assumes that the receiver has nothing of a file. Until the receiver answers, the
// file's bytes are sent anyway; they do not touch what the receiver has.
type earlyStart struct {
	s     *Sender
	index uint32
	known bool
}

// earlyStartError reports that the receiver already has something of the file, with the receiver's
// answer.
type earlyStartError struct{ verdict }

func (e *earlyStartError) Error() string { return "the receiver already has a part of the file" }

// isPending reports whether the receiver has not answered yet.
func (g *earlyStart) isPending() bool { return g != nil && !g.known }

// checkVerdict checks for an answer. It returns a *guessError if the receiver has something.
func (g *earlyStart) checkVerdict() error {
	g.s.mu.Lock()
	v, ok := g.s.verdicts[g.index]
	delete(g.s.verdicts, g.index)
	g.s.mu.Unlock()
	if !ok {
		return nil
	}
	return g.handleVerdict(v)
}

// waitVerdict waits for the receiver's answer.
func (g *earlyStart) waitVerdict(ctx context.Context) error {
	if err := g.s.packer.flush(ctx); err != nil {
		return err
	}
	v, err := g.s.verdict(ctx, g.index)
	if err != nil {
		return err
	}
	return g.handleVerdict(v)
}

func (g *earlyStart) handleVerdict(v verdict) error {
	if g.known = true; v.have != 0 {
		return &earlyStartError{v}
	}
	return nil
}
