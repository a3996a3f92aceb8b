package stream

import "context"

// guess assumes that the receiver has nothing of a file. Until the receiver answers, the file's
// bytes are sent anyway; they do not touch what the receiver has.
type guess struct {
	s     *Sender
	index uint32
	known bool
}

// guessError reports that a guess was wrong, with the receiver's answer.
type guessError struct{ verdict }

func (e *guessError) Error() string { return "the receiver has something of the file" }

// open reports whether the receiver has not answered yet.
func (g *guess) open() bool { return g != nil && !g.known }

// ask checks for an answer. It returns a *guessError if the receiver has something.
func (g *guess) ask() error {
	g.s.mu.Lock()
	v, ok := g.s.verdicts[g.index]
	delete(g.s.verdicts, g.index)
	g.s.mu.Unlock()
	if !ok {
		return nil
	}
	return g.heard(v)
}

// settle waits for the receiver's answer.
func (g *guess) settle(ctx context.Context) error {
	if err := g.s.pack.flush(ctx); err != nil {
		return err
	}
	v, err := g.s.verdict(ctx, g.index)
	if err != nil {
		return err
	}
	return g.heard(v)
}

func (g *guess) heard(v verdict) error {
	if g.known = true; v.have != 0 {
		return &guessError{v}
	}
	return nil
}
